# Sourced by the launchers of the source tree and of the packages: finds Java, chooses the JVM's options for a command,
# and makes the archives of classes that let it start faster.

jvm_options=() # JVM options of the calling script
# For all JVMs: Netty and zstd load native code, of which Java 24 and newer would warn. Archives fit only JVMs that have
# the same.
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

# The class-file version is the one number that every JDK since 1.0 reports in the same format: 61 is Java 17. Most JDKs
# since 9 have a release file beside bin whose version is 44 lower; reading it saves starting a JVM.
class_file_version() {
  local home
  home=$(dirname "$(dirname "$(readlink -f "$1")")")
  if [[ -r $home/release && $(< "$home/release") =~ JAVA_VERSION=\"([0-9]+) ]] && (( BASH_REMATCH[1] > 8 )); then
    echo $(( BASH_REMATCH[1] + 44 ))
  else
    "$1" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.class\.version = \([0-9]*\).*/\1/p'
  fi
}

# For short-lived commands, startup time matters more than peak speed. Logging is off because their error messages
# already say everything.
short_lived=(
  -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
  -Dslf4j.provider=org.slf4j.helpers.NOP_FallbackServiceProvider -Dslf4j.internal.verbosity=WARN
)

# Archives are optional: a JVM that cannot write one, or that it does not fit, runs without. Its log is off because it says
# so at length.
archive_flags() { # archive_flags JAVA
  if (( $(class_file_version "$1") >= 69 )); then
    write_archive=-XX:AOTCacheOutput read_archive=-XX:AOTCache archive_log='-Xlog:aot*=off'
  else
    write_archive=-XX:ArchiveClassesAtExit read_archive=-XX:SharedArchiveFile archive_log='-Xlog:cds*=off'
  fi
}

# Two training runs, of a short-lived command and of the server. Each leaves an archive of the classes that it loaded, and
# from Java 25 on of what it learned about hot methods; later runs start with it.
#
# An archive counts only when its JVM has ended well: Java 17 crashes on half of one. The runs get no environment, because
# it may have settings of a real server.
make_archives() { # make_archives FOLDER JAVA JVM_OPTION...
  local folder=$1 java=$2 scratch server address
  shift 2
  local main=("$native_access" "$@" io.caravan.server.cli.Main)
  archive_flags "$java"
  scratch=$(mktemp -d)
  env -i "$java" "$write_archive=$folder/server.jsa.new" "${main[@]}" \
    serve --data "$scratch/data" --resp 127.0.0.1:0 --http 127.0.0.1:0 > "$scratch/out" 2>&1 &
  server=$!
  # It has warmed up when it says where it serves.
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

# Java decodes command-line arguments by the locale; outside a UTF-8 locale it would garble non-ASCII characters.
utf8_locale() {
  case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
    *[Uu][Tt][Ff]*8*) ;;
    *) export LC_ALL=C.UTF-8 ;;
  esac
}

# Sets the JVM's options for a command, with the archive for it where there is one.
choose_options() { # choose_options JAVA FOLDER_OF_ARCHIVES ARGUMENT...
  local java=$1 folder=$2 archive='' given
  shift 2
  case " $* " in
    # The hosts of a demo are started with the options that it has.
    " serve "* | " cluster demo "*)
      archive=$folder/server.jsa
      # A server without memory answers nothing any more: it ends, with status 3, and is restarted.
      jvm_options=(-XX:+ExitOnOutOfMemoryError)
      ;;
    " verify "* | " repair "* | " salvage "* | " dump "* | " log "* | " restore "*" --archive"[\ =]*) ;;
    *)
      archive=$folder/command.jsa
      jvm_options=("${short_lived[@]}")
      # Show progress only on a terminal, and never mixed with the values that "get" prints there.
      # "top" draws its picture in place only on a terminal.
      [[ ! -t 2 || ${1:-} = get && -t 1 || ${1:-} = top && ! -t 1 ]] || jvm_options+=(-Dcaravan.progress=true)
      ;;
  esac
  # A JVM refuses to start with options for two archives, so one that somebody names takes the place of ours.
  given="${CARAVAN_JAVA_OPTS:-} ${JDK_JAVA_OPTIONS:-} ${JAVA_TOOL_OPTIONS:-}"
  if [[ -f $archive && ! $given =~ -Xshare|SharedArchive|-XX:AOT ]]; then
    archive_flags "$java"
    jvm_options+=("$read_archive=$archive" "$archive_log")
  fi
}
