package io.caravan.bench.torture;

import io.caravan.cluster.Host;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The disks of the hosts of a group, which can be slow, fail, and be full. A library in each host's process
 * ({@code sickdisk.c}) stands between its files and the system; so the store and the Raft log are told of it by the errors
 * that a real disk gives. Needs a C compiler, and no root. One thread uses it.
 */
final class GroupDisks {
    private static final String SOURCE = "sickdisk.c";

    /** What ails a disk; the library knows it by its number. */
    enum Ailment {
        /** It may be slow. */
        NONE,
        FAILS,
        /** Writes go to the system's memory, as ever. */
        FAILS_FORCES,
        FULL
    }

    private final GroupPlan plan;
    private final @Nullable Path library;
    private String whyNone = "";

    /** Disks that are well. */
    GroupDisks(GroupPlan plan) throws IOException {
        this.plan = plan;
        this.library = compile(plan.directory());
        for (Host host : plan.hosts()) {
            Files.createDirectories(plan.folder(host.id()));
            ail(host.id(), Ailment.NONE, 0);
        }
    }

    private @Nullable Path compile(Path folder) throws IOException {
        Path source = folder.resolve(SOURCE);
        Path compiled = folder.resolve("sickdisk.so");
        try (InputStream in = Objects.requireNonNull(GroupDisks.class.getResourceAsStream(SOURCE))) {
            Files.copy(in, source);
        }
        try {
            Process compiler = new ProcessBuilder(
                            "cc", "-O2", "-shared", "-fPIC", "-o", compiled.toString(), source.toString(), "-ldl")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (compiler.waitFor() == 0) {
                return compiled;
            }
            whyNone = output;
        } catch (IOException missing) {
            whyNone = String.valueOf(missing.getMessage());
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while a library was compiled", hurried);
        }
        return null;
    }

    /** Why no disk can be anything but well here; empty when it can. */
    String whyNone() {
        return whyNone;
    }

    /** What a host's process needs in its environment. */
    Map<String, String> environment(String host) {
        return library == null
                ? Map.of()
                : Map.of(
                        "LD_PRELOAD", library.toString(),
                        "CARAVAN_DISK", plan.folder(host).toString(),
                        "CARAVAN_DISK_STATE", state(host).toString());
    }

    private Path state(String host) {
        return plan.directory().resolve(host + ".disk");
    }

    /**
     * From now on a host's disk is as this says.
     *
     * @param forceMillis how much longer a force takes than it does anyway
     */
    void ail(String host, Ailment ailment, int forceMillis) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * Integer.BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(ailment.ordinal())
                .putInt(forceMillis)
                .flip();
        try (FileChannel channel = FileChannel.open(state(host), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(bytes, 0);
        }
    }
}
