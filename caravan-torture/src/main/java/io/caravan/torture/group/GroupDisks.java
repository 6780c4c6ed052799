package io.caravan.torture.group;

import io.caravan.cluster.Node;
import io.caravan.torture.disk.SmallVolume;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Simulates the disks of the nodes of a Raft group. A disk can be slow, fail, or be full. A library in each node's
 * process ({@code sickdisk.c}) intercepts the system calls of the process on files, so the store and the Raft log
 * receive the errors of a real disk. Needs a C compiler, but no root privileges. Not thread-safe.
 */
final class GroupDisks {
    private static final String SOURCE = "sickdisk.c";

    /** A fault of a simulated disk. The library identifies each fault by its ordinal. */
    enum Ailment {
        /** No fault, although the disk may be slow. */
        NONE,
        FAILS,
        /** Fsyncs fail; writes to the page cache succeed. */
        FAILS_FSYNCS,
        FULL
    }

    private final GroupPlan plan;
    private final @Nullable Path library;
    private String reasonForNone = "";

    /** Creates a disk without a fault for each node. */
    GroupDisks(GroupPlan plan) throws IOException {
        this.plan = plan;
        this.library = compile(plan.directory());
        for (Node node : plan.nodes()) {
            Files.createDirectories(plan.nodeDirectory(node.id()));
            ail(node.id(), Ailment.NONE, 0);
        }
    }

    private @Nullable Path compile(Path nodeDirectory) throws IOException {
        Path source = nodeDirectory.resolve(SOURCE);
        Path compiled = nodeDirectory.resolve("sickdisk.so");
        try (InputStream in = Objects.requireNonNull(GroupDisks.class.getResourceAsStream(SOURCE))) {
            Files.copy(in, source);
        }
        try {
            SmallVolume.run(
                    List.of("cc", "-O2", "-shared", "-fPIC", "-o", compiled.toString(), source.toString(), "-ldl"));
            return compiled;
        } catch (IOException missing) {
            reasonForNone = String.valueOf(missing.getMessage());
        }
        return null;
    }

    /** Returns the reason why this machine cannot simulate disk faults; empty if it can. */
    String reasonForNone() {
        return reasonForNone;
    }

    /** Returns the environment variables that make a node's process use its simulated disk. */
    Map<String, String> environment(String node) {
        return library == null
                ? Map.of()
                : Map.of(
                        "LD_PRELOAD", library.toString(),
                        "CARAVAN_DISK", plan.nodeDirectory(node).toString(),
                        "CARAVAN_DISK_STATE", state(node).toString());
    }

    private Path state(String node) {
        return plan.directory().resolve(node + ".disk");
    }

    /**
     * Sets the fault of a node's disk, and the additional delay of its fsyncs.
     *
     * @param forceMillis additional duration of each fsync
     */
    void ail(String node, Ailment ailment, int forceMillis) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(2 * Integer.BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(ailment.ordinal())
                .putInt(forceMillis)
                .flip();
        try (FileChannel channel = FileChannel.open(state(node), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(bytes, 0);
        }
    }
}
