#!/usr/bin/env bash
# Lists checkpoints of workflows: `.claude/utils/list-checkpoints.sh`, on top of waypost.
#
# Types are compared as a whole, where the original takes any file whose name starts alike. The
# description and the number of phases are in the document alone: `waypost show ID` prints it.
set -euo pipefail
export LC_ALL=C

usage() {
    cat << 'END'
Lists checkpoints of workflows, newest first.

Usage: list-checkpoints.sh [TYPE] [--status STATUS]

  TYPE             only of this kind of workflow
  --status STATUS  only in_progress, completed, failed, paused, archived or unknown; without it,
                   all but what is archived (`waypost archive`, or failed/ of the original)

Examples:
  list-checkpoints.sh
  list-checkpoints.sh implement
  list-checkpoints.sh --status failed
  waypost list --all                    # of other tools, too, as a table

The store is $WAYPOST_STORE, else that of $CLAUDE_PROJECT_DIR, else that of this directory.
Exit status: 0 even if there are none, 1 wrong arguments, 127 no waypost, else that of waypost.
END
}

die() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    exit "${2:-1}"
}

# Prints matching entries as lines of JSON, newest first; none is no error.
entries() {
    local said code=0
    { said=$(waypost list --all --json "$@" 2>&1 >&3 3>&-) || code=$?; } 3>&1
    [[ $code -eq 0 || $code -eq 3 ]] || die "$said" "$code"
}

type='' status=''
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) usage && exit 0 ;;
        --status) [[ $# -ge 2 ]] || die '--status takes a value' && status=$2 && shift ;;
        --status=*) status=${1#*=} ;;
        --) ;;
        *)
            [[ -z $type ]] || die 'takes one TYPE; --help has examples'
            # An empty one is none, as for the original.
            [[ $1 =~ ^([A-Za-z0-9][A-Za-z0-9._-]*)?$ ]] ||
                die "neither an option nor a TYPE, which has letters, digits, . _ and -: $1"
            type=$1
            ;;
    esac
    shift
done
case $status in
    '' | in_progress | completed | failed | paused | archived | unknown) ;;
    *) die "no STATUS: $status; --help lists them" ;;
esac

command -v waypost > /dev/null ||
    die "waypost is not on PATH: \`cargo install --path .\` in its source puts it there" 127
if [[ -z ${WAYPOST_STORE:-} && -n ${CLAUDE_PROJECT_DIR:-} ]]; then
    cd -- "$CLAUDE_PROJECT_DIR" > /dev/null
fi

found=$(entries ${status:+"--status=$status"} | awk -v type="$type" -v status="$status" '
    # The text of a member; quotes inside of JSON strings are escaped, so nothing else is found.
    function text(name, found) {
        if (!match($0, "[{,]\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
        found = substr($0, RSTART + length(name) + 5, RLENGTH - length(name) - 6)
        gsub(/\\"/, "\"", found)
        gsub(/\\\\/, "\\", found)
        return found
    }
    {
        kind = text("workflow_type")
        series = text("series")
        # Other tools may share the store.
        if (kind == "" || index(series, kind ":") != 1 || (type != "" && kind != type)) next
        if (status == "" && text("status") == "archived") next
        created_at = text("created_at")
        sub(/[.][0-9]+Z$/, "Z", created_at)
        phase = text("phase")
        print "Checkpoint: " text("id")
        print "  Type: " kind
        print "  Project: " substr(series, length(kind) + 2)
        print "  Created: " created_at
        if (phase != "") print "  Progress: Phase " phase
        print "  Status: " text("status") "\n"
    }
')
if [[ -z $found ]]; then
    echo 'No checkpoints found'
    exit 0
fi
printf 'Active Checkpoints:\n==================\n\n%s\n\nTo see one: waypost show ID\n' "$found"
