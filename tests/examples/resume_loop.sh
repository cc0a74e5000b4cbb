#!/bin/sh
# A loop that saves every step and goes on where it was killed. Run it, kill it, run it again.

# Any JSON can be the state of a loop; here it is the number of the last step that was done.
step=$(waypost resume nightly --document --quiet)
case $? in
    0) ;;          # go on
    3) step=0 ;;   # nothing saved yet: start
    *) exit 1 ;;   # somebody must decide; what about was said
esac
echo "after $step"

while [ "$step" -lt "${1:-50}" ]; do
    step=$((step + 1)) # the work of an agent
    echo "$step" | waypost save --series nightly --iteration "$step" --trigger iteration > /dev/null || exit 1
    echo "saved $step"
done
