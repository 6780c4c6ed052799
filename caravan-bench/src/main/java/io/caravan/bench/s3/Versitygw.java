package io.caravan.bench.s3;

import io.caravan.bench.Installer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The Versity S3 Gateway, which is built with Go and uses a directory as its storage. */
final class Versitygw implements S3Program {
    private static final String GO = "go";
    private static final String VERSION = "github.com/versity/versitygw/cmd/versitygw@v1.8.0";
    private static final Path HOME = Installer.home("versitygw");

    @Override
    public @Nullable String install() throws IOException {
        String missing = Installer.missing(GO);
        return missing != null
                ? missing
                : new Installer(HOME, VERSION)
                        .run(Map.of("GOBIN", HOME.toString()), List.of(List.of(GO, "install", VERSION)));
    }

    @Override
    public List<String> command(Path data, int port) {
        return List.of(
                HOME.resolve("versitygw").toString(),
                "--quiet",
                "--port",
                S3Process.HOST + ":" + port,
                "posix",
                data.toString());
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("ROOT_ACCESS_KEY", S3Account.ACCESS_KEY, "ROOT_SECRET_KEY", S3Account.SECRET_KEY);
    }
}
