package io.caravan.bench.network;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server to measure, and the command that starts it. */
public interface Subject {
    /** The name in a table. */
    String name();

    /** The guarantee of a write when its reply arrives. */
    String durability();

    /**
     * The reason why it cannot run here; null when it can. May search for programs, and install those that it needs.
     */
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
