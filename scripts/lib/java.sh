# Sourced by the launchers of the source tree and of the packages. Finds Java, chooses the JVM options for a command,
# and creates class-data archives for faster starts.

jvm_options=() # JVM options of the calling script
# Option for all JVMs, because Netty and zstd load native code, about which Java 24 and newer would warn. A class-data
# archive requires the same options.
native_access=--enable-native-access=ALL-UNNAMED

fail() {
  printf 'caravan: %s\n' "$*" >&2
  exit 69
}

find_java() {
  local java version
  if [[ -n ${JAVA_HOME:-} ]]; then
    java=$JAVA_HOME/bin/java
    [[ -x $java ]] || fail "JAVA_HOME is $JAVA_HOME, but there is no bin/java in it"
  else
    java=$(command -v java) || fail "Java 17 or newer is required: set JAVA_HOME, or put java on the PATH"
  fi
  version=$(class_file_version "$java")
  (( ${version:-0} >= 61 )) || fail "Java 17 or newer is required, but $java is older (set JAVA_HOME to choose another)"
  printf '%s\n' "$java"
}

# Every JDK since 1.0 reports the class-file version in the same format: 61 is Java 17. Most JDKs since 9 have a release
# file next to bin with a version that is 44 lower. Reading this file avoids the start of a JVM.
class_file_version() {
  local home
  home=$(dirname "$(dirname "$(readlink -f "$1")")")
  if [[ -r $home/release && $(< "$home/release") =~ JAVA_VERSION=\"([0-9]+) ]] && (( BASH_REMATCH[1] > 8 )); then
    echo $(( BASH_REMATCH[1] + 44 ))
  else
    "$1" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.class\.version = \([0-9]*\).*/\1/p'
  fi
}

# For short-lived commands, startup time matters more than peak speed. Logging is off because the error messages are
# sufficient.
short_lived=(
  -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
  -Dslf4j.provider=org.slf4j.helpers.NOP_FallbackServiceProvider -Dslf4j.internal.verbosity=WARN
)

# Archives are optional. A JVM that cannot write or use one runs without it. Its verbose messages about this are off.
archive_flags() { # archive_flags JAVA
  if (( $(class_file_version "$1") >= 69 )); then
    write_archive=-XX:AOTCacheOutput read_archive=-XX:AOTCache archive_log='-Xlog:aot*=off'
  else
    write_archive=-XX:ArchiveClassesAtExit read_archive=-XX:SharedArchiveFile archive_log='-Xlog:cds*=off'
  fi
}

# Runs a short-lived command and the server for training. Each run leaves an archive of the classes that it loaded, and
# from Java 25 on of profiles of hot methods. Later runs start with it.
#
# An archive is kept only if its JVM exited with 0, because Java 17 crashes on an incomplete one. The runs have an empty
# environment, because it may contain settings of a real server.
make_archives() { # make_archives FOLDER JAVA JVM_OPTION...
  local folder=$1 java=$2 scratch server address
  shift 2
  local main=("$native_access" "$@" io.caravan.server.cli.Main)
  archive_flags "$java"
  scratch=$(mktemp -d)
  env -i "$java" "$write_archive=$folder/server.jsa.new" "${main[@]}" \
    serve --data "$scratch/data" --resp 127.0.0.1:0 --http 127.0.0.1:0 > "$scratch/out" 2>&1 &
  server=$!
  # The server has warmed up when it prints its address.
  until address=$(sed -n 's/^caravan serves RESP on \([^,]*\),.*/\1/p' "$scratch/out" 2> /dev/null); [[ -n $address ]]; do
    kill -0 $server 2> /dev/null || break
    sleep 0.1
  done
  if env -i "$java" "${short_lived[@]}" "$write_archive=$folder/command.jsa.new" "${main[@]}" \
    stat --server "$address" > "$scratch/stat" 2>&1; then
    mv "$folder/command.jsa.new" "$folder/command.jsa" || true
  fi
  kill $server 2> /dev/null || true
  if wait $server; then
    mv "$folder/server.jsa.new" "$folder/server.jsa" || true
  fi
  rm -rf "$scratch" "$folder/command.jsa.new" "$folder/server.jsa.new"
}

# Java decodes arguments according to the locale. Without a UTF-8 locale, it would garble non-ASCII characters.
utf8_locale() {
  case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
    *[Uu][Tt][Ff]*8*) ;;
    *) export LC_ALL=C.UTF-8 ;;
  esac
}

# Sets the JVM options for a command, with the class-data archive for it if one exists.
choose_options() { # choose_options JAVA FOLDER_OF_ARCHIVES ARGUMENT...
  local java=$1 folder=$2 archive='' given
  shift 2
  case " $* " in
    # The nodes of a demo inherit the options of the demo.
    " serve "* | " cluster demo "*)
      archive=$folder/server.jsa
      # A server without free memory cannot reply, so it exits with status 3 and is restarted.
      jvm_options=(-XX:+ExitOnOutOfMemoryError)
      ;;
    " verify "* | " repair "* | " salvage "* | " dump "* | " log "* | " restore "*" --archive"[\ =]*) ;;
    *)
      archive=$folder/command.jsa
      jvm_options=("${short_lived[@]}")
      # Show progress only on a terminal, and never mixed with the values that "get" prints there.
      [[ ! -t 2 || ${1:-} = get && -t 1 ]] || jvm_options+=(-Dcaravan.progress=true)
      ;;
  esac
  # A JVM does not start with options for two archives, so the user's archive takes precedence.
  given="${CARAVAN_JAVA_OPTS:-} ${JDK_JAVA_OPTIONS:-} ${JAVA_TOOL_OPTIONS:-}"
  if [[ -f $archive && ! $given =~ -Xshare|SharedArchive|-XX:AOT ]]; then
    archive_flags "$java"
    jvm_options+=("$read_archive=$archive" "$archive_log")
  fi
}
