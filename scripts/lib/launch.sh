# Sourced by the scripts. Builds a module if its jar is missing or older than its sources, and runs one of its classes.
# The caller sets `root` to the root of the repository.
source "$root/scripts/lib/java.sh"

launch() { # launch MODULE MAIN_CLASS ARGUMENT...
  local module=$1 main=$2
  shift 2
  local target=$root/$module/target
  local java
  java=$(find_java)
  is_built "$module" || build "$module"
  # Java cannot detect whether stderr is a terminal.
  [[ $module != caravan-torture || ! -t 2 ]] || jvm_options+=(-Dcaravan.progress=true)
  # CARAVAN_JAVA_OPTS is split into words on purpose. With exec, signals reach the JVM.
  # shellcheck disable=SC2086
  exec "$java" "$native_access" ${jvm_options[@]+"${jvm_options[@]}"} ${CARAVAN_JAVA_OPTS:-} \
    -cp "$target/$module.jar:$target/lib/*" "$main" "$@"
}

# Prints the modules that a module depends on, followed by the module.
modules_of() {
  case $1 in
    caravan-server) echo caravan-core caravan-cluster caravan-server ;;
    caravan-bench) echo caravan-core caravan-cluster caravan-server caravan-bench ;;
    caravan-torture) echo caravan-core caravan-cluster caravan-server caravan-bench caravan-torture ;;
    *) fail "no such module: $1" ;;
  esac
}

# Whether the last build of the module is newer than all sources.
is_built() {
  local target=$root/$1/target module
  [[ -f $target/$1.jar && -f $target/.launched ]] || return 1
  local sources=("$root/pom.xml")
  for module in $(modules_of "$1"); do
    sources+=("$root/$module/pom.xml")
    [[ ! -d $root/$module/src/main ]] || sources+=("$root/$module/src/main")
  done
  # The torture harness also runs test classes of the core, such as the simulator.
  [[ $1 != caravan-torture ]] || sources+=("$root/caravan-core/src/test")
  [[ -z $(find "${sources[@]}" -newer "$target/.launched" -print -quit) ]]
}

build() {
  command -v mvn > /dev/null || fail "Maven 3.8 or newer is required to build: put mvn on the PATH"
  mkdir -p "$root/target" "$root/$1/target"
  # Allows only one build at a time. Another process may have built the module in the meantime.
  if command -v flock > /dev/null; then
    exec 9> "$root/target/launch.lock"
    flock 9
    if is_built "$1"; then
      exec 9>&-
      return
    fi
  fi
  echo "building caravan (first run, about a minute)..." >&2
  # The marker is created before the build, so that an edit during the build triggers the next one.
  local mark=$root/$1/target/.launching
  touch "$mark"
  rm -rf "$root/$1/target/lib"
  (cd "$root" && mvn -B -ntp -q -Dstyle.color=never -Pquick -pl "$1" -am package >&2) || fail "the build failed; see above"
  [[ $(type -t after_build) != function ]] || after_build "$root/$1/target"
  mv "$mark" "$root/$1/target/.launched"
  exec 9>&-
}
