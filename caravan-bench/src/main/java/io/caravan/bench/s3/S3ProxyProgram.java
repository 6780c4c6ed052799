package io.caravan.bench.s3;

import io.caravan.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs s3proxy from this program's own class path, with a directory as its storage. */
final class S3ProxyProgram implements S3Program {
    /**
     * The names of leftover files. s3proxy writes to a file named after the key plus this suffix, and then renames the
     * file. After a kill, it lists the leftover file as an object.
     */
    private static final Pattern HALF_PUT =
            Pattern.compile(".*-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    private static final List<String> FLAGS = List.of("-Xmx512m", "-XX:+UseSerialGC");

    @Override
    public List<String> command(Path data, int port) {
        return ChildJvm.command(FLAGS, S3ProxyMain.class.getName(), List.of(data.toString(), Integer.toString(port)));
    }

    @Override
    public void tidy(Path data) throws IOException {
        List<Path> halfPut;
        try (Stream<Path> files = Files.walk(data)) {
            halfPut = files.filter(file ->
                            HALF_PUT.matcher(file.getFileName().toString()).matches())
                    .toList();
        }
        for (Path file : halfPut) {
            Files.delete(file);
        }
    }
}
