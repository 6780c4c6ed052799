package io.caravan.bench.network;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server to be measured, as it is started. */
public interface Subject {
    /** What it is called in a table. */
    String name();

    /** What has happened to a write when it is answered. */
    String durability();

    /** Why it cannot be run here, in words; null when it can. May look for programs, and install what it needs. */
    @Nullable
    String missing() throws IOException;

    /**
     * The command that runs it until it is killed.
     *
     * @param data a directory that is there and empty
     */
    List<String> command(Path data, Ports ports) throws IOException;

    /** What it puts out when it serves; a port that is open does not say that yet. */
    String announcement();
}
