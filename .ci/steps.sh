# Functions for the scripts in this directory. A script that sources this file has set errexit and errtrace, and its
# current directory is the root.

# Maven options after "mvn verify" has compiled and checked everything. Without incremental compilation, Maven compiles
# only sources that are newer than their classes.
as_compiled=(
  -Dmaven.compiler.useIncrementalCompilation=false -Dspotless.check.skip -Dforbiddenapis.skip -Denforcer.skip
)

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
mkdir -p target
# One line for each step: wall seconds, processor seconds, title.
step_times=$PWD/target/$(basename "$0")-times.tsv
: > "$step_times"

# Installs a Debian package that some checks need. If this fails, those checks print a message and are skipped.
ensure() { # ensure PACKAGE COMMAND...: COMMAND succeeds if the package is installed
  local package=$1
  shift
  if "$@" > /dev/null 2>&1; then
    return
  fi
  if [[ $(id -u) -eq 0 ]] && command -v apt-get > /dev/null; then
    echo "== $package is missing: installing it"
    if apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package"; then
      return
    fi
    echo "== $package could not be installed: the checks that need it will not run"
  else
    echo "== $package is missing, and only root on Debian can install it: the checks that need it will not run"
  fi
}

has_node() {
  command -v node > /dev/null && command -v npm > /dev/null && (( $(node -p 'process.versions.node.split(".")[0]') >= 20 ))
}

has_venv() {
  python3 -c 'import venv, ensurepip' 2> /dev/null
}

# Sets $processor to the processor seconds that the commands of this shell have used until now.
measure_processor() {
  local file=$logs/times-$BASHPID
  times > "$file"
  processor=$(awk -F'[ms ]' 'NR == 2 { printf "%d", ($1 + $4) * 60 + $2 + $5 }' "$file")
}

step() { # step TITLE COMMAND...
  local title=$1 start=$SECONDS processor before
  shift
  echo "== $title"
  measure_processor
  before=$processor
  trap 'echo "== failed: $title" >&2' ERR
  "$@"
  trap - ERR
  measure_processor
  echo "== done in $((SECONDS - start)) s, with $((processor - before)) s of processor: $title"
  printf '%d\t%d\t%s\n' $((SECONDS - start)) $((processor - before)) "$title" >> "$step_times"
}

# Runs functions concurrently and prints the output of each when all have ended. Exits if one has failed.
together() { # together FUNCTION...
  local name failed=()
  local -A running=()
  for name in "$@"; do
    "$name" > "$logs/$name" 2>&1 &
    running[$name]=$!
  done
  for name in "$@"; do
    if wait "${running[$name]}"; then
      cat "$logs/$name"
    else
      failed+=("$name")
    fi
  done
  for name in "${failed[@]}"; do
    cat "$logs/$name"
    echo "== failed: $name" >&2
  done
  (( ${#failed[@]} == 0 )) || exit 1
}

s3_server() { # s3_server NAME
  step "objects in $1" scripts/with-s3 "$1" mvn -B -ntp -q -pl caravan-server -am test \
    -Dtest=S3EndpointTest -Dsurefire.failIfNoSpecifiedTests=false "${as_compiled[@]}"
}

conclude() {
  echo "== wall and processor seconds of each step"
  sort -rn "$step_times" | awk -F'\t' '{ printf "%6d %6d  %s\n", $1, $2, $3; processor += $2 } END { printf "%13d  in all\n", processor }'
  echo "== all passed in $((SECONDS / 60)) min $((SECONDS % 60)) s"
}

ensure redis-tools command -v redis-cli
ensure redis-server command -v redis-server
ensure python3-venv python3 -c 'import venv, ensurepip'
if has_venv; then
  s3=moto
else
  s3=s3proxy
  echo "== python3 or its venv module is missing: no moto, s3proxy takes its place in the drills"
fi
