package io.caravan.bench.server;

import io.caravan.bench.Installer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server found on the PATH.
 *
 * @param options options in addition to those for the address and the directory
 */
public record Redis(String name, String durability, List<String> options) implements MeasuredServer {
    private static final String PROGRAM = "redis-server";

    /** Returns Redis with its most durable setting. */
    public static Redis fsynced() {
        return new Redis(
                "Redis, appendfsync always",
                "fsynced before the reply",
                List.of("--save", "", "--appendonly", "yes", "--appendfsync", "always"));
    }

    /**
     * Returns Redis with the default setting for append-only files. With this setting, a power failure may lose the
     * writes of the last second.
     */
    public static Redis everySecond() {
        return new Redis(
                "Redis, appendfsync everysec",
                "acknowledged before it is synced, once per second",
                List.of("--save", "", "--appendonly", "yes", "--appendfsync", "everysec"));
    }

    /** Returns Redis without any durability, which shows the cost of the replies alone. */
    static Redis inMemory() {
        return new Redis(
                "Redis, no persistence", "none: lost with the process", List.of("--save", "", "--appendonly", "no"));
    }

    @Override
    public @Nullable String missing() {
        return Installer.missing(PROGRAM);
    }

    @Override
    public List<String> command(Path data, Ports ports) {
        List<String> command = new ArrayList<>(List.of(
                PROGRAM, "--bind", Ports.HOST, "--port", Integer.toString(ports.resp()), "--dir", data.toString()));
        command.addAll(options);
        return command;
    }

    @Override
    public String announcement() {
        return "Ready to accept connections";
    }
}
