package io.caravan.bench.network;

import io.caravan.bench.Executables;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Redis, as it is found on the path.
 *
 * @param options beside those for address and directory
 */
public record Redis(String name, String durability, List<String> options) implements Subject {
    private static final String PROGRAM = "redis-server";

    /** As durable as it gets. */
    public static Redis forced() {
        return new Redis(
                "Redis, appendfsync always",
                "forced before the answer",
                List.of("--save", "", "--appendonly", "yes", "--appendfsync", "always"));
    }

    /** As it comes with append-only files: a second may be lost with the power. */
    public static Redis everySecond() {
        return new Redis(
                "Redis, appendfsync everysec",
                "acknowledged before it is synced, once a second",
                List.of("--save", "", "--appendonly", "yes", "--appendfsync", "everysec"));
    }

    /** What the answers cost without any durability. */
    static Redis inMemory() {
        return new Redis(
                "Redis, no persistence", "none: lost with the process", List.of("--save", "", "--appendonly", "no"));
    }

    @Override
    public @Nullable String missing() {
        return Executables.missing(PROGRAM);
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
