package io.caravan.bench.network;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server to measure, and how to start it. */
public interface Subject {
    /** The name in a table. */
    String name();

    /** What is guaranteed of a write when it is answered. */
    String durability();

    /** Why it cannot run here, in words; null when it can. May look for programs, and install what it needs. */
    @Nullable
    String missing() throws IOException;

    /**
     * The command that runs the server until it is killed.
     *
     * @param data an existing, empty directory
     */
    List<String> command(Path data, Ports ports) throws IOException;

    /** The output that shows that it is ready; an open port alone does not. */
    String announcement();
}
