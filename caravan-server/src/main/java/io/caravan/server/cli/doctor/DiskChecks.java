package io.caravan.server.cli.doctor;

import static io.caravan.server.cli.common.Figures.size;

import io.caravan.io.FileStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks the disk of an existing or planned store, as Linux reports it. Leaves no files behind. */
public final class DiskChecks {
    private static final int FORCES = 64;
    private static final int BLOCK_BYTES = 4096;
    private static final double PERCENT = 100;
    private static final double LEAST_FREE_PERCENT = 15;
    private static final long LEAST_FREE_BYTES = 1L << 30;
    private static final double NANOS_PER_MILLI = 1e6;
    /** No disk that keeps its data in a power loss is faster; even persistent memory requires the kernel. */
    private static final long TOO_SOON_NANOS = 15_000;

    private static final long SLOW_NANOS = 20_000_000;
    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");
    private static final Set<String> FOREIGN = Set.of("nfs", "nfs4", "cifs", "smb3", "9p", "overlay", "vboxsf");

    /** Copy-on-write and log-structured file systems, which do not overwrite blocks in place. */
    private static final Set<String> COPYING = Set.of("btrfs", "zfs", "bcachefs", "f2fs", "nilfs2");

    private static final String MOUNTS = "proc/self/mountinfo";
    private static final String OPTIONS = "mount options";
    private static final String CACHE = "write cache";
    /** Mount options that may be shown. Other options may contain user names, passwords, and addresses. */
    private static final Pattern SHOWN =
            Pattern.compile("rw|ro|sync|dirsync|(no|rel|strict|lazy)a?time|nodiratime|no(suid|dev|exec)"
                    + "|(no)?barrier|barrier=[01]|data=(journal|ordered|writeback)|commit=[0-9]+|(no)?discard(=async)?|(no)?auto_da_alloc"
                    + "|errors=(remount-ro|continue|panic)|(no)?delalloc|inode(32|64)|(no)?quota|noquota|attr2|logbufs=[0-9]+"
                    + "|logbsize=[0-9]+k?|journal_checksum|journal_async_commit|compress(=[a-z]+(:[0-9]+)?)?|ssd|(no)?datacow|flushoncommit"
                    + "|soft|hard|vers=[0-9.]+|[rw]size=[0-9]+|local_lock=[a-z]+|cache=[a-z]+|volatile");

    private final Path root;
    private final Path directory;

    /** One line of the kernel's mount table. */
    private record Mount(String device, Path point, TreeSet<String> options) {
        /**
         * Parses a line: id, parent, device, root, mount point, options, optional fields up to {@code -}, type, source,
         * superblock options. Returns empty if fields are missing.
         */
        static Optional<Mount> parse(String line) {
            String[] halves = line.split(" - ", 2);
            String[] fields = halves[0].split(" ");
            String[] source = halves[halves.length - 1].split(" ");
            if (halves.length < 2 || fields.length < 6 || source.length < 3) {
                return Optional.empty();
            }
            TreeSet<String> options = new TreeSet<>(List.of(fields[5].split(",")));
            boolean readOnly = options.contains("ro");
            options.addAll(List.of(source[2].split(",")));
            options.remove(readOnly ? "rw" : "");
            return Optional.of(new Mount(fields[2], Path.of(unescaped(fields[4])), options));
        }

        /** Decodes spaces and other special characters, which the kernel writes as octal numbers. */
        private static String unescaped(String text) {
            return Pattern.compile("\\\\([0-7]{3})")
                    .matcher(text)
                    .replaceAll(found ->
                            Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(found.group(1), 8))));
        }
    }

    /** Creates checks for the disk of a directory, which need not exist yet; {@code root} contains {@code proc}. */
    public DiskChecks(Path root, Path directory) {
        this.root = root;
        this.directory = existing(directory);
    }

    /** Returns the directory, or its nearest ancestor that exists. */
    private static Path existing(Path directory) {
        Path there = directory.toAbsolutePath().normalize();
        while (!Files.isDirectory(there) && there.getParent() != null) {
            there = there.getParent();
        }
        return there;
    }

    /** Returns all findings. If {@code writes}, writes a small file to measure fsyncs, and deletes it. */
    public List<Finding> run(boolean writes) {
        List<Finding> findings = disk();
        if (writes) {
            findings.add(forces());
        }
        findings.addAll(mounted());
        return findings;
    }

    private List<Finding> disk() {
        List<Finding> findings = new ArrayList<>();
        try {
            FileStore disk = Files.getFileStore(directory);
            // The address of a remote disk may contain a user name and a password.
            String name = disk.name().contains("@") ? "another machine's" : disk.name();
            findings.add(kind(disk.type(), directory + " is on " + disk.type() + " (" + name + ")"));
            findings.add(space(disk.getUsableSpace(), disk.getTotalSpace()));
        } catch (IOException problem) {
            findings.add(Finding.unknown("disk", "its type and space are unknown: " + FileStorage.problem(problem)));
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
                    "nothing can be written to " + directory + ": " + FileStorage.problem(problem),
                    "make room on its disk, or give it to the user who runs the server");
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

    /** Returns the findings about the mount options and the write cache. */
    List<Finding> mounted() {
        Optional<Mount> mount;
        try {
            mount = mount(directory.toRealPath());
        } catch (IOException unreadable) {
            mount = Optional.empty();
        }
        return List.of(
                mount.map(each -> options(each.options()))
                        .orElseGet(() -> Finding.unknown(OPTIONS, "this system does not report them in /" + MOUNTS)),
                mount.map(this::cache).orElseGet(() -> Finding.unknown(CACHE, "the disk is not known")));
    }

    /** Returns the mount with the longest point that contains a path; of several, the last one is effective. */
    private Optional<Mount> mount(Path real) throws IOException {
        return MachineChecks.systemFile(root.resolve(MOUNTS))
                .lines()
                .map(Mount::parse)
                .flatMap(Optional::stream)
                .filter(mount -> real.startsWith(mount.point()))
                .reduce((best, each) ->
                        each.point().getNameCount() >= best.point().getNameCount() ? each : best);
    }

    private static Finding options(TreeSet<String> options) {
        List<String> shown = options.stream().filter(SHOWN.asMatchPredicate()).toList();
        int others = options.size() - shown.size();
        String found = String.join(",", shown) + (others == 0 ? "" : " and " + others + " others");
        for (String unsafe : List.of("nobarrier", "barrier=0", "volatile")) {
            if (options.contains(unsafe)) {
                return Finding.bad(
                        OPTIONS,
                        found + "; with " + unsafe
                                + " an fsync does not reach the disk, and a power loss undoes what"
                                + " was acknowledged",
                        "mount it without " + unsafe);
            }
        }
        if (options.contains("ro")) {
            return Finding.bad(
                    OPTIONS,
                    found + "; nothing can be written",
                    "check dmesg for disk errors that caused this, and mount it with rw");
        }
        if (options.contains("soft")) {
            return Finding.warning(
                    OPTIONS, found + "; a server that is slow to answer makes writes fail", "mount it with hard");
        }
        return options.contains("sync")
                ? Finding.warning(
                        OPTIONS, found + "; every write waits for the disk, not only an fsync", "mount it without sync")
                : Finding.ok(OPTIONS, found);
    }

    /** Checks the write cache. A partition has no queue of its own: the disk's queue is one directory up. */
    private Finding cache(Mount mount) {
        try {
            Path device = root.resolve("sys/dev/block").resolve(mount.device()).toRealPath();
            Path file = Stream.of("queue/write_cache", "../queue/write_cache")
                    .map(device::resolve)
                    .filter(Files::isReadable)
                    .findFirst()
                    .orElseThrow(() -> new IOException("no queue"));
            return cache(MachineChecks.systemFile(file).strip());
        } catch (IOException unreadable) {
            return Finding.unknown(CACHE, "this system does not report it for the disk, or there is no disk");
        }
    }

    private static Finding cache(String cache) {
        return switch (cache) {
            case "write back" -> Finding.ok(CACHE, cache + "; the disk has a write cache, and each fsync flushes it");
            case "write through" ->
                new Finding(
                        Finding.Grade.UNKNOWN,
                        CACHE,
                        cache
                                + "; the kernel does not ask the disk to empty any cache, which is right if it has"
                                + " none, or one with a battery",
                        "if the disk has a cache: echo 'write back' into queue/write_cache below /sys/block");
            default -> Finding.unknown(CACHE, "the kernel reports neither write back nor write through");
        };
    }

    /** Returns the findings about which users may read the store's directory and the files with secrets. */
    public static List<Finding> access(Path directory, List<Path> secrets) {
        List<Finding> findings = new ArrayList<>();
        if (Files.exists(directory)) {
            findings.add(permissions("store", directory, "chmod 700 " + directory));
        } else {
            findings.add(Finding.ok("store", directory + " does not exist yet; the server creates it"));
        }
        secrets.forEach(file -> findings.add(permissions("secret", file, "chmod 600 " + file)));
        return findings;
    }

    private static Finding permissions(String subject, Path file, String change) {
        try {
            if (!Files.isReadable(file)) {
                return Finding.bad(
                        subject,
                        file + " does not exist, or this user may not read it",
                        "give it to the user who runs the server");
            }
            Set<PosixFilePermission> allowed = Files.getPosixFilePermissions(file);
            String found = file + " belongs to " + Files.getOwner(file);
            return allowed.contains(PosixFilePermission.OTHERS_READ)
                    ? Finding.warning(subject, found + "; every user of this machine can read it", change)
                    : Finding.ok(subject, found + ", and no other user can read it");
        } catch (IOException | UnsupportedOperationException unreadable) {
            return Finding.unknown(subject, file + ": its permissions cannot be read: " + unreadable);
        }
    }
}
