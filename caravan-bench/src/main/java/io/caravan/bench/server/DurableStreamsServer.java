package io.caravan.bench.server;

import io.caravan.bench.Installer;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The program {@code durable-streams-server} of crates.io, found on the PATH, with its fsynced file storage. Its limits
 * on the size of streams are raised, and it does not log requests.
 */
final class DurableStreamsServer implements MeasuredServer {
    private static final String PROGRAM = "durable-streams-server";
    private static final long UNLIMITED_BYTES = 1L << 40;

    @Override
    public String name() {
        return PROGRAM;
    }

    @Override
    public String durability() {
        return "value fsynced (fdatasync) before the response";
    }

    @Override
    public @Nullable String missing() {
        return Installer.missing(PROGRAM);
    }

    @Override
    public List<String> command(Path data, Ports ports) {
        return List.of(
                "env",
                "DS_STORAGE__MODE=file-durable",
                "DS_STORAGE__DATA_DIR=" + data,
                "DS_SERVER__BIND_ADDRESS=" + Ports.HOST + ":" + ports.http(),
                "DS_LIMITS__MAX_MEMORY_BYTES=" + UNLIMITED_BYTES,
                "DS_LIMITS__MAX_STREAM_BYTES=" + UNLIMITED_BYTES,
                "RUST_LOG=warn,durable_streams_server::startup=info",
                PROGRAM);
    }

    /** Returns the name of the last phase of the start, in which the port is already open. */
    @Override
    public String announcement() {
        return "start_server";
    }
}
