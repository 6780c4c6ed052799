package io.caravan.bench.s3;

import io.caravan.bench.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Installs a program into a directory once, by running commands. */
final class Installer {
    /** The file that an installation creates last; it contains the installed version. */
    private static final String MARK = ".installed";

    private static final Duration PATIENCE = Duration.ofMinutes(8);

    private final Path home;
    private final String version;

    /**
     * Creates an installer.
     *
     * @param version of the program; a different installed version is replaced
     */
    Installer(Path home, String version) {
        this.home = home;
        this.version = version;
    }

    /** Returns why the installation failed; null when the program is installed. */
    @Nullable
    String run(Map<String, String> environment, List<List<String>> commands) throws IOException {
        Path mark = home.resolve(MARK);
        if (Files.exists(mark) && Files.readString(mark).equals(version)) {
            return null;
        }
        Files.createDirectories(home);
        System.err.println("installing " + version + " in " + home + "...");
        Path log = home.resolve("install.log");
        for (List<String> command : commands) {
            try (ChildProcess child = new ChildProcess(command, environment, log)) {
                if (child.awaitExit(PATIENCE) != 0) {
                    return "`" + String.join(" ", command) + "` failed; see " + log;
                }
            }
        }
        Files.writeString(mark, version);
        return null;
    }
}
