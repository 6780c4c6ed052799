# Sourced by the programs of a package, which set `home` to its folder: what they all run.
source "$home/lib/java.sh"

class_path=(-cp "$home/lib/*")
java=$home/runtime/bin/java
if [[ -x $java ]]; then
  # The native libraries of the jars, as files: nothing has to be unpacked and run in a folder for temporary files.
  class_path=("-Djava.library.path=$home/native" "-DZstdNativePath=$home/native/libzstd-jni.so" "${class_path[@]}")
else
  java=$(find_java)
fi
