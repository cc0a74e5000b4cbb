#!/usr/bin/env bash
# Saves a checkpoint of a workflow: `.claude/utils/save-checkpoint.sh`, on top of waypost.
#
# The document is the checkpoint that the original writes, with the state in `workflow_state`.
# What the original gets wrong, and this does not:
# - Two saves in one second are two checkpoints, not one file written twice.
# - `tests_passing` is what the state says; there it is always true.
# - A state that is not a JSON object is refused before anything is written.
# - The two arguments of its README are understood, besides the three of its code.
#
# Needs bash 3.2, awk, sed and waypost, but no jq: waypost prints JSON with one member a line, which
# is enough to find those of the top level, whatever is in the strings.
set -euo pipefail
export LC_ALL=C

usage() {
    cat << 'END'
Saves the state of a workflow as a checkpoint, and prints its id once it is on disk.

Usage: save-checkpoint.sh TYPE PROJECT STATE
       save-checkpoint.sh TYPE STATE

  TYPE     kind of workflow, such as orchestrate, implement or test-all
  PROJECT  any name on one line; left out, it is project_name of the state or of its
           workflow_state, else `default`
  STATE    a JSON object; standard input if it is -, empty or left out after PROJECT

status, current_phase (or phase), total_phases, completed_phases, workflow_description, last_error,
tests_passing and iteration are taken from the state where it has them. The series is TYPE:PROJECT.

Examples:
  save-checkpoint.sh implement dark_mode '{"current_phase": 2, "total_phases": 5}'
  save-checkpoint.sh orchestrate '{"project_name": "auth_system", "status": "in_progress"}'
  build-state | save-checkpoint.sh implement dark_mode -
  waypost show "$(save-checkpoint.sh implement dark_mode '{}')" --document

The store is $WAYPOST_STORE, else that of $CLAUDE_PROJECT_DIR, else that of this directory.
Exit status: 0 saved, 1 wrong arguments, 127 no waypost, else that of waypost.
END
}

die() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    exit "${2:-1}"
}

# Prints a member of the JSON object on standard input, as JSON; of two with one name the last.
member() {
    awk -v start="  \"$1\": " '
        index($0, start) == 1 {
            value = substr($0, length(start) + 1)
            is_open = value ~ /^[[{]$/
            next
        }
        is_open {
            value = value "\n" $0
            is_open = $0 !~ /^  []}],?$/
        }
        END { sub(/,$/, "", value); if (value != "null") print value }
    '
}

# Prints a JSON string or number as plain text; fails if it is neither, or has control characters.
plain() {
    local text=$1
    case $text in
        '"'*'"') text=${text#?} && text=${text%?} ;;
        [0-9-]*) ;;
        *) return 1 ;;
    esac
    # waypost escapes nothing but quotes, backslashes and control characters.
    case $(printf '%s\n' "$text" | sed 's/\\["\\]//g') in
        *\\*) return 1 ;;
    esac
    printf '%s\n' "$text" | sed 's/\\\(["\\]\)/\1/g'
}

quoted() {
    printf '"%s"' "$(printf '%s\n' "$1" | sed 's/["\\]/\\&/g')"
}

# A store for this state alone: waypost checks the JSON, and prints it with one member a line.
scratch_store() {
    waypost --store "$scratch/store.redb" --quiet "$@"
}

# Prints a member of the state as JSON, or what is given for one that is missing or null.
of_state() {
    local value
    value=$(member "$1" < "$scratch/state.json")
    printf '%s\n' "${value:-$2}"
}

# Prints the project that the state names, as JSON: the code has it at the top, the README deeper.
project_of_state() {
    of_state project_name "$(of_state workflow_state '' | sed 's/^  //' | member project_name)"
}

# The words of real files, as waypost spells them.
status_of() {
    case $(printf '%s\n' "$1" | tr 'A-Z-' 'a-z_') in
        in_progress | running) echo in_progress ;;
        completed | complete | success | done) echo completed ;;
        failed | failure | aborted | fatal) echo failed ;;
        paused) echo paused ;;
        archived) echo archived ;;
        *) echo unknown ;;
    esac
}

case ${1:-} in
    -h | --help) usage && exit 0 ;;
    --) shift ;;
esac
[[ $# -ge 2 && $# -le 3 ]] || die 'takes TYPE [PROJECT] STATE; --help has examples'
# Without a colon, so that TYPE:PROJECT can be told apart.
[[ $1 =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] ||
    die 'TYPE is made of letters, digits, ".", "_" and "-", and starts with a letter or digit'
type=$1 project='' state=${3:-} nameless='"default"'
# A state is an object, and the name of a project hardly starts like one.
object='^[[:space:]]*[{]'
if [[ $# -eq 2 && $2 == - ]] || [[ $# -eq 2 && $2 =~ $object ]]; then
    state=$2
elif [[ -z $2 ]]; then
    die 'PROJECT is empty'
else
    project=$2
fi
[[ ! $project =~ [[:cntrl:]] ]] || die 'PROJECT has a line break or another control character'

command -v waypost > /dev/null ||
    die "waypost is not on PATH: \`cargo install --path .\` in its source puts it there" 127
if [[ -z ${WAYPOST_STORE:-} && -n ${CLAUDE_PROJECT_DIR:-} ]]; then
    cd -- "$CLAUDE_PROJECT_DIR" > /dev/null
fi

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
if [[ -n $state && $state != - ]]; then
    printf '%s\n' "$state" > "$scratch/given.json"
elif [[ -t 0 ]]; then
    die 'no state: give it as the last argument or on standard input'
else
    cat > "$scratch/given.json"
fi

scratch_store save --force --durability relaxed "$scratch/given.json" > /dev/null
scratch_store latest --document > "$scratch/state.json"
case $(sed -n 1p "$scratch/state.json") in
    '{' | '{}') ;;
    *) die 'the state must be a JSON object' ;;
esac

if [[ -z $project ]]; then
    named=$(project_of_state)
    project=$(plain "${named:-$nameless}") ||
        die 'project_name of the state is no text, or has control characters'
    [[ -n $project ]] || die 'project_name of the state is empty'
fi
description=$(of_state workflow_description '""')
status=$(of_state status '"in_progress"')
phase=$(of_state current_phase "$(of_state phase '')")
total_phases=$(of_state total_phases 0)
completed_phases=$(of_state completed_phases '[]')
tests_passing=$(of_state tests_passing '')
last_error=$(of_state last_error null)

# What waypost indexes. What does not fit there is in the document only.
about=(--series="$type:$project" --workflow-type="$type")
about+=(--status="$(status_of "$(plain "$status" || true)")")
if name=$(plain "$phase") && [[ -n $name && ${#name} -le 512 ]]; then
    about+=(--phase="$name")
fi
iteration=$(plain "$(of_state iteration '')" || true)
if [[ $iteration =~ ^[0-9]{1,18}$ ]]; then
    about+=(--iteration="$iteration")
fi
case $last_error in
    null | false | '""') ;;
    # By this cleanup-checkpoints.sh knows what to keep for longer.
    *) about+=(--warning='last_error is set') ;;
esac

now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
# As the original names its files: unique only within a second, so it is not the id for waypost.
name=$type'_'$(printf '%s' "$project" | tr -c 'A-Za-z0-9._-' '_')'_'$(
    printf '%s' "$now" | sed 's/[-:Z]//g; s/T/_/'
)
{
    printf '{\n  "checkpoint_id": "%s",\n  "workflow_type": "%s",\n' "$name" "$type"
    printf '  "project_name": %s,\n' "$(quoted "$project")"
    printf '  "workflow_description": %s,\n' "$description"
    printf '  "created_at": "%s",\n  "updated_at": "%s",\n' "$now" "$now"
    printf '  "status": %s,\n' "$status"
    printf '  "current_phase": %s,\n' "${phase:-0}"
    printf '  "total_phases": %s,\n' "$total_phases"
    printf '  "completed_phases": %s,\n' "$completed_phases"
    sed '1s/^/  "workflow_state": /; $s/$/,/' "$scratch/state.json"
    if [[ -n $tests_passing ]]; then
        printf '  "tests_passing": %s,\n' "$tests_passing"
    fi
    printf '  "last_error": %s\n}\n' "$last_error"
} > "$scratch/checkpoint.json"
waypost save "$scratch/checkpoint.json" "${about[@]}"
