package io.caravan.bench;

import io.caravan.testing.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Installs a program that the benchmarks need, by running commands, unless it is already installed. */
public final class Installer {
    /** The file that an installation creates last; it contains the installed version. */
    private static final String MARK = ".installed";

    private static final Duration TIMEOUT = Duration.ofMinutes(8);

    private final Path home;
    private final String version;

    /**
     * Creates an installer that installs a program into the directory {@code home}.
     *
     * @param version version of the program; a different installed version is replaced
     */
    public Installer(Path home, String version) {
        this.home = home;
        this.version = version;
    }

    /**
     * Returns the directory in which to install the program of this name, next to the JAR file or classes of this
     * module. The directory may not exist yet.
     */
    public static Path home(String name) {
        try {
            return Path.of(Installer.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .resolveSibling(name);
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("cannot locate this program's own jar or classes", impossible);
        }
    }

    /**
     * Installs the program if necessary. Returns the reason why the installation failed, or null if the program is
     * installed.
     */
    public @Nullable String run(Map<String, String> environment, List<List<String>> commands) throws IOException {
        Path mark = home.resolve(MARK);
        if (Files.exists(mark) && Files.readString(mark).equals(version)) {
            return null;
        }
        Files.createDirectories(home);
        System.err.println("installing " + version + " in " + home + "...");
        Path log = home.resolve("install.log");
        for (List<String> command : commands) {
            try (ChildProcess child = new ChildProcess(command, environment, log)) {
                if (child.awaitExit(TIMEOUT) != 0) {
                    return "`" + String.join(" ", command) + "` failed; see " + log;
                }
            }
        }
        Files.writeString(mark, version);
        return null;
    }

    /** Returns a message if the program is not on the PATH, or null if it is. */
    public static @Nullable String missing(String program) {
        String path = System.getenv().getOrDefault("PATH", "");
        boolean found = Arrays.stream(path.split(File.pathSeparator))
                .map(directory -> Path.of(directory, program))
                .anyMatch(Files::isExecutable);
        return found ? null : "no " + program + " on the PATH";
    }
}
