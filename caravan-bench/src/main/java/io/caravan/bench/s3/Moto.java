package io.caravan.bench.s3;

import io.caravan.bench.Installer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Moto's server, in its own Python virtual environment. Accepts any credentials. */
final class Moto implements S3Program {
    private static final String PYTHON = "python3";
    private static final String VERSION = "moto[server]==5.2.5";
    private static final Path HOME = Installer.home("moto");
    /**
     * The server program, in Python. Moto checks a condition before it puts an object, so two concurrent requests with
     * the same condition may both succeed. This program therefore processes conditional requests one at a time.
     */
    private static final String SERVER = """
            import sys, threading
            from moto import server

            conditional = threading.Lock()

            class Dispatcher(server.DomainDispatcherApplication):
                def __call__(self, environ, start_response):
                    if "HTTP_IF_MATCH" in environ or "HTTP_IF_NONE_MATCH" in environ:
                        with conditional:
                            return super().__call__(environ, start_response)
                    return super().__call__(environ, start_response)

            server.DomainDispatcherApplication = Dispatcher
            server.main(sys.argv[1:])
            """;

    @Override
    public @Nullable String install() throws IOException {
        String missing = Installer.missing(PYTHON);
        if (missing != null) {
            return missing;
        }
        return new Installer(HOME, VERSION)
                .run(
                        Map.of(),
                        List.of(
                                List.of(PYTHON, "-m", "venv", HOME.toString()),
                                List.of(program("pip"), "install", "--quiet", "--disable-pip-version-check", VERSION)));
    }

    @Override
    public List<String> command(Path data, int port) {
        return List.of(program("python"), "-c", SERVER, "-H", S3Process.HOST, "-p", Integer.toString(port));
    }

    private static String program(String name) {
        return HOME.resolve("bin").resolve(name).toString();
    }

    @Override
    public boolean keepsObjects() {
        return false;
    }
}
