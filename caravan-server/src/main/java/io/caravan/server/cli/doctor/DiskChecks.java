package io.caravan.server.cli.doctor;

import static io.caravan.server.cli.common.Figures.size;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Checks the disk of an existing or planned store. Leaves no files behind. */
public final class DiskChecks {
    private static final int FORCES = 64;
    private static final int BLOCK_BYTES = 4096;
    private static final double PERCENT = 100;
    private static final double LEAST_FREE_PERCENT = 15;
    private static final long LEAST_FREE_BYTES = 1L << 30;
    private static final double NANOS_PER_MILLI = 1e6;
    /**
     * The shortest plausible duration of an fsync. No disk that keeps its data in a power loss is faster; even
     * persistent memory requires a round trip to the kernel.
     */
    private static final long TOO_SOON_NANOS = 15_000;

    private static final long SLOW_NANOS = 20_000_000;
    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");
    private static final Set<String> FOREIGN = Set.of("nfs", "nfs4", "cifs", "smb3", "9p", "overlay", "vboxsf");

    /** Copy-on-write and log-structured file systems, which do not overwrite blocks in place. */
    private static final Set<String> COPYING = Set.of("btrfs", "zfs", "bcachefs", "f2fs", "nilfs2");

    private final Path directory;

    /** Creates checks for the disk that contains this directory; the directory need not exist yet. */
    public DiskChecks(Path directory) {
        this.directory = existing(directory);
    }

    /** Returns the directory, or its nearest ancestor that exists. */
    static Path existing(Path directory) {
        Path there = directory.toAbsolutePath().normalize();
        while (!Files.isDirectory(there) && there.getParent() != null) {
            there = there.getParent();
        }
        return there;
    }

    /** Returns all findings. Writes a small file to measure fsyncs, and deletes it. */
    public List<Finding> run() {
        List<Finding> findings = new ArrayList<>(withoutWriting());
        findings.add(forces());
        return findings;
    }

    /** Returns the findings of the checks that write nothing. */
    public List<Finding> withoutWriting() {
        List<Finding> findings = new ArrayList<>();
        try {
            FileStore disk = Files.getFileStore(directory);
            // The address of a remote disk may contain a user name and a password.
            String name = disk.name().contains("@") ? "another machine's" : disk.name();
            findings.add(kind(disk.type(), directory + " is on " + disk.type() + " (" + name + ")"));
            findings.add(space(disk.getUsableSpace(), disk.getTotalSpace()));
        } catch (IOException problem) {
            findings.add(Finding.unknown("disk", "its type and space cannot be read: " + problem));
        }
        return findings;
    }

    static Finding kind(String type, String found) {
        String subject = "file system";
        if (IN_MEMORY.contains(type)) {
            return Finding.bad(subject, found + ", which a restart of the machine empties", "--data on a disk");
        }
        if (FOREIGN.contains(type) || type.startsWith("fuse")) {
            return Finding.warning(
                    subject,
                    found
                            + "; another system decides whether an fsync reaches a disk, and whether a lock excludes"
                            + " others",
                    "--data on a local file system, such as ext4 or xfs");
        }
        if (COPYING.contains(type)) {
            return Finding.warning(
                    subject,
                    found
                            + "; it takes new space for each write, so that a full disk fails the store, and no longer"
                            + " only rejects appends",
                    "--data on ext4 or xfs, or be alarmed well before the disk is full");
        }
        return Finding.ok(subject, found);
    }

    static Finding space(long free, long total) {
        double percent = PERCENT * free / Math.max(1, total);
        String found = String.format(Locale.ROOT, "%s of %s free, %.0f%%", size(free), size(total), percent);
        if (free < LEAST_FREE_BYTES) {
            return Finding.bad("space", found + "; the store will soon reject writes", "make room, or a larger disk");
        }
        return percent >= LEAST_FREE_PERCENT
                ? Finding.ok("space", found)
                : Finding.warning("space", found, "make room, or a larger disk");
    }

    private Finding forces() {
        try {
            return forces(measure());
        } catch (IOException problem) {
            return Finding.bad(
                    "fsyncs",
                    "nothing can be written to " + directory + ": " + problem,
                    "give it to the user who runs the server");
        }
    }

    /** Returns the finding for a median fsync duration in nanoseconds. */
    static Finding forces(long nanos) {
        String found = String.format(
                Locale.ROOT, "one takes %.2f ms, so %,.0f a second", nanos / NANOS_PER_MILLI, 1e9 / Math.max(1, nanos));
        if (nanos < TOO_SOON_NANOS) {
            return Finding.bad(
                    "fsyncs",
                    found + "; no disk is that quick: something acknowledges data that a power loss would undo",
                    "look for a mount option such as nobarrier, a virtual disk with an unsafe cache, libeatmydata");
        }
        return nanos > SLOW_NANOS
                ? Finding.warning(
                        "fsyncs",
                        found + "; writers wait that long",
                        "a solid-state disk, or one with a battery behind its cache")
                : Finding.ok("fsyncs", found);
    }

    /** Returns the median duration of appending a block to a file and fsyncing the file, in nanoseconds. */
    private long measure() throws IOException {
        Path scratch = Files.createTempFile(directory, ".caravan-doctor", ".tmp");
        try (FileChannel file = FileChannel.open(scratch, StandardOpenOption.WRITE)) {
            long[] nanos = new long[FORCES];
            for (int i = 0; i < FORCES; i++) {
                long began = System.nanoTime();
                file.write(ByteBuffer.allocate(BLOCK_BYTES));
                file.force(false);
                nanos[i] = System.nanoTime() - began;
            }
            Arrays.sort(nanos);
            return nanos[FORCES / 2];
        } finally {
            Files.delete(scratch);
        }
    }
}
