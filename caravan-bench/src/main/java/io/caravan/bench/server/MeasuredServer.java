package io.caravan.bench.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server to measure, and the command that starts it. */
public interface MeasuredServer {
    /** Returns the name of the server in tables. */
    String name();

    /** Returns the durability guarantee that applies to a write when its reply arrives. */
    String durability();

    /**
     * Returns the reason why the server cannot run here, or null if it can. May search for programs, and install those
     * that the server needs.
     */
    @Nullable
    String missing() throws IOException;

    /**
     * Returns the command that runs the server until it is killed.
     *
     * @param data an existing, empty directory
     */
    List<String> command(Path data, Ports ports) throws IOException;

    /** Returns the line or phrase with which the server reports that it is ready. An open port is not sufficient. */
    String announcement();
}
