package io.caravan.bench.server;

import io.caravan.bench.Installer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The Durable Streams reference server, run on Node.js with file storage.
 *
 * <p>It keeps at most a hundred files open, one for each stream, and responds with 404 to an append whose file it
 * closes concurrently. A load on more streams therefore causes errors.
 *
 * <p>{@code npm} installs its packages once, next to this program's JAR file, in the versions that a lock file
 * specifies.
 */
public final class ReferenceServer implements MeasuredServer {
    private static final String NODE = "node";
    private static final String NPM = "npm";
    private static final String MAIN = "server.js";
    private static final List<String> FILES = List.of("package.json", "package-lock.json", MAIN);
    private static final String RESOURCES = "reference/";
    private static final Path HOME = Installer.home("reference-server");

    @Override
    public String name() {
        return "reference server 0.3.7";
    }

    @Override
    public String durability() {
        return "value fsynced (fdatasync) before the response; its offset is committed, but not fsynced before the"
                + " response";
    }

    @Override
    public @Nullable String missing() throws IOException {
        for (String program : List.of(NODE, NPM)) {
            String missing = Installer.missing(program);
            if (missing != null) {
                return missing;
            }
        }
        Path home = Files.createDirectories(HOME);
        for (String file : FILES) {
            try (InputStream in = ReferenceServer.class.getResourceAsStream(RESOURCES + file)) {
                if (in == null) {
                    throw new IOException("this program was built without " + RESOURCES + file);
                }
                Files.copy(in, home.resolve(file), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        // Does not use npm ci, which rejects a lock file that lacks the optional packages of other operating systems.
        List<String> install = List.of(
                NPM,
                "--prefix",
                home.toString(),
                "install",
                "--no-save",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--loglevel=error");
        return new Installer(home, name()).run(Map.of(), List.of(install));
    }

    @Override
    public List<String> command(Path data, Ports ports) throws IOException {
        return List.of(NODE, HOME.resolve(MAIN).toString(), Integer.toString(ports.http()), data.toString());
    }

    @Override
    public String announcement() {
        return "serves on ";
    }
}
