package io.caravan.bench.s3;

import io.caravan.bench.ChildJvm;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** s3proxy over a directory, from this program's own class path. */
final class S3ProxyProgram implements S3Program {
    private static final List<String> FLAGS = List.of("-Xmx512m", "-XX:+UseSerialGC");

    @Override
    public @Nullable String install() {
        return null;
    }

    @Override
    public List<String> command(Path data, int port) {
        return ChildJvm.command(FLAGS, S3ProxyMain.class.getName(), List.of(data.toString(), Integer.toString(port)));
    }

    @Override
    public Map<String, String> environment() {
        return Map.of();
    }

    @Override
    public boolean keepsObjects() {
        return true;
    }
}
