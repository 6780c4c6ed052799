package io.caravan.bench.s3;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How an S3 server is installed and started. */
interface S3Program {
    /**
     * Installs it if it is not, which may take minutes and need a network.
     *
     * @return why it cannot run here, in words; null when it can
     */
    @Nullable
    String install() throws IOException;

    /**
     * The command that runs it, on the loopback address, until it is killed.
     *
     * @param data a directory that is there, for its objects
     */
    List<String> command(Path data, int port);

    /** Variables that it needs beside those of this program. */
    Map<String, String> environment();

    /** Whether its objects outlive its process. */
    boolean keepsObjects();

    /** Removes what it shows as objects after a kill and are none. */
    default void tidy(Path data) throws IOException {}
}
