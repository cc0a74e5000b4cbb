#!/usr/bin/env bash
# Prints the newest checkpoint of a workflow: `.claude/utils/load-checkpoint.sh`, on top of waypost.
#
# What the original gets wrong, and this does not:
# - Names are compared as a whole: there, `implement auth` finds `implement auth_system`.
# - The newest is the one that was saved last, not the file that was touched last.
set -euo pipefail
export LC_ALL=C

usage() {
    cat << 'END'
Prints the newest checkpoint of a workflow as JSON.

Usage: load-checkpoint.sh TYPE [PROJECT]

Without PROJECT it is the newest of any project. What is archived (`waypost archive`, or failed/ of
the original) is passed over; what has failed or is done is not, and that is said.

Examples:
  load-checkpoint.sh implement dark_mode
  load-checkpoint.sh orchestrate | jq .workflow_state

The store is $WAYPOST_STORE, else that of $CLAUDE_PROJECT_DIR, else that of this directory.
Exit status: 0 printed, 1 none found or wrong arguments, 127 no waypost, else that of waypost.
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

case ${1:-} in
    -h | --help) usage && exit 0 ;;
    --) shift ;;
esac
[[ $# -ge 1 && $# -le 2 ]] || die 'takes TYPE [PROJECT]; --help has examples'
[[ $1 =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] ||
    die 'TYPE is made of letters, digits, ".", "_" and "-", and starts with a letter or digit'
type=$1 project=${2:-}
[[ ! $project =~ [[:cntrl:]] ]] || die 'PROJECT has a line break or another control character'

command -v waypost > /dev/null ||
    die "waypost is not on PATH: \`cargo install --path .\` in its source puts it there" 127
if [[ -z ${WAYPOST_STORE:-} && -n ${CLAUDE_PROJECT_DIR:-} ]]; then
    cd -- "$CLAUDE_PROJECT_DIR" > /dev/null
fi

if [[ -n $project ]]; then
    set -- --series="$type:$project"
else
    set --
fi
# Quotes inside of JSON strings are escaped, so this finds members and nothing else.
found=$(entries "$@" | awk -v type="$type" '
    !index($0, ",\"series\":\"" type ":") || !index($0, ",\"workflow_type\":\"" type "\",") { next }
    match($0, /,"status":"[a-z_]*"/) {
        status = substr($0, RSTART + 11, RLENGTH - 12)
        # An import from failed/ makes it archived, until it is reopened.
        if (status == "archived") next
        match($0, /[{,]"id":"[^"]*"/)
        print status, substr($0, RSTART + 7, RLENGTH - 8)
        exit
    }
')
[[ -n $found ]] || die "no checkpoint found for $type${project:+ of $project}"
status=${found%% *} id=${found#* }
if [[ $status != in_progress && $status != unknown ]]; then
    printf '%s: note: this work is %s\n' "${0##*/}" "$status" >&2
fi
waypost show --document -- "$id"
