# Code shared by the programs of a package, which source this file after setting `home` to the package's directory.
source "$home/lib/java.sh"

class_path=(-cp "$home/lib/*")
java=$home/runtime/bin/java
if [[ -x $java ]]; then
  # Native libraries are available as files, so they need not be unpacked from JAR files to a temporary directory.
  class_path=("-Djava.library.path=$home/native" "-DZstdNativePath=$home/native/libzstd-jni.so" "${class_path[@]}")
else
  java=$(find_java)
fi
