#!/usr/bin/env bash
# Removes old checkpoints of workflows: `.claude/utils/cleanup-checkpoints.sh`, on top of waypost.
#
# This does what the README of the original promises; the script itself has a syntax error and has
# never removed anything. Age counts from when a checkpoint was saved. It differs from
# `waypost prune --policy claude` in that it leaves alone what other tools have in the store, and
# removes the newest of a series, too, once it is too old.
set -euo pipefail
export LC_ALL=C

usage() {
    cat << 'END'
Removes old checkpoints of workflows.

Usage: cleanup-checkpoints.sh [--dry-run] [DAYS]

  DAYS       how long checkpoints are kept; 7 if not said
  --dry-run  say what would be done, and do nothing

What is older than DAYS goes. But what has failed, or has a last_error, is archived (`failed/` of
the original), and goes 30 days after that, or after DAYS if that is more. What has a tag stays, and so
does what other tools have in the store. `waypost undelete` brings back what was removed.

What is done need not wait: `waypost complete --series TYPE:PROJECT --policy claude` removes it.

Examples:
  cleanup-checkpoints.sh --dry-run
  cleanup-checkpoints.sh 14

The store is $WAYPOST_STORE, else that of $CLAUDE_PROJECT_DIR, else that of this directory.
Exit status: 0 done, 1 wrong arguments, 127 no waypost, else that of waypost.
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

# Runs a command of waypost on ids, of which it takes only so many at once.
each() {
    local command=$1
    shift
    while [[ $# -gt 0 ]]; do
        waypost "$command" -- "${@:1:500}" > /dev/null
        shift $(($# < 500 ? $# : 500))
    done
}

days='' is_dry=''
while [[ $# -gt 0 ]]; do
    case $1 in
        -h | --help) usage && exit 0 ;;
        -n | --dry-run) is_dry=1 ;;
        --) ;;
        *)
            [[ -z $days ]] || die 'takes one number of DAYS; --help has examples'
            [[ $1 =~ ^[0-9]{1,5}$ ]] || die "DAYS is a whole number up to 99999, not: $1"
            # Not octal, whatever it starts with.
            days=$((10#$1))
            ;;
    esac
    shift
done
days=${days:-7}

command -v waypost > /dev/null ||
    die "waypost is not on PATH: \`cargo install --path .\` in its source puts it there" 127
if [[ -z ${WAYPOST_STORE:-} && -n ${CLAUDE_PROJECT_DIR:-} ]]; then
    cd -- "$CLAUDE_PROJECT_DIR" > /dev/null
fi

# One line for each checkpoint that something is done to: what, its id, and the words for it.
plan() {
    entries --until="${days}d" | awk -v now="$(date -u +%Y-%m-%dT%H:%M:%SZ)" -v days="$days" '
        # The text of a member; quotes inside of JSON strings are escaped, so nothing else is found.
        function text(name) {
            if (!match($0, "[{,]\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
            return substr($0, RSTART + length(name) + 5, RLENGTH - length(name) - 6)
        }
        # The days from the start of the year 0 to a time like 2026-01-25T15:00:00Z.
        function days_of(time, year, month) {
            year = substr(time, 1, 4) - (substr(time, 6, 2) < 3)
            month = (substr(time, 6, 2) + 9) % 12
            return 365 * year + int(year / 4) - int(year / 100) + int(year / 400) \
                + int((153 * month + 2) / 5) + substr(time, 9, 2) + substr(time, 12, 2) / 24
        }
        {
            id = text("id")
            kind = text("workflow_type")
            series = text("series")
            status = text("status")
            # Other tools may share the store.
            if (kind == "" || index(series, kind ":") != 1) next
            if (!index($0, ",\"tags\":[],")) next
            has_failed = status ~ /^(failed|archived)$/ || index($0, "\"last_error is set\"")
            # When it was archived, or else saved.
            since = text("updated_at") > text("created_at") ? text("updated_at") : text("created_at")
            age = days_of(now) - days_of(since)
            if (has_failed && status != "archived")
                print "archive", id, "failed checkpoint of " series
            else if (!has_failed || age >= (days > 30 ? days : 30))
                print "delete", id, "old checkpoint of " series
        }
    '
}

planned=$(plan)
delete=() archive=()
echo "Cleaning up checkpoints older than $days days..."
while read -r action id words; do
    case $action in
        archive) archive+=("$id") && verb=Archiving ;;
        delete) delete+=("$id") && verb=Deleting ;;
        *) continue ;;
    esac
    echo "$verb $words: $id"
done <<< "$planned"
if [[ -z $is_dry ]]; then
    # Bash before 4.4 takes an empty list for one that is not set.
    each archive ${archive[@]+"${archive[@]}"}
    each delete ${delete[@]+"${delete[@]}"}
    echo 'Cleanup complete:'
else
    echo 'Dry run, nothing was changed:'
fi
echo "  Deleted: ${#delete[@]}"
echo "  Archived: ${#archive[@]}"
