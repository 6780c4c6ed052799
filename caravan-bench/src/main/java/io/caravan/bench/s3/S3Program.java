package io.caravan.bench.s3;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Installs and starts an S3 server. */
public interface S3Program {
    /**
     * Installs the program if necessary, which may take minutes and require network access.
     *
     * @return the reason why the program cannot run here, or null if it can
     */
    default @Nullable String install() throws IOException {
        return null;
    }

    /**
     * Returns the command that runs the server on the loopback address until it is killed.
     *
     * @param data an existing directory for the server's objects
     */
    List<String> command(Path data, int port);

    /** Returns the environment variables that the server needs in addition to those of this process. */
    default Map<String, String> environment() {
        return Map.of();
    }

    /** Whether the server's objects survive the end of its process. */
    default boolean keepsObjects() {
        return true;
    }

    /** Removes files that a killed server has left behind and would otherwise list as objects after a restart. */
    default void tidy(Path data) throws IOException {}
}
