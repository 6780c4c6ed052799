package io.caravan.server.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks the mount options of a directory's file system and the write cache of its disk, as Linux reports them. */
public final class MountChecks {
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
         * Parses a line, which consists of: id, parent, device, root, mount point, options, optional fields up to
         * {@code -}, type, source, superblock options. Returns empty if fields are missing.
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

    /**
     * Creates checks for a directory's mount; the directory need not exist yet.
     *
     * @param root the directory that contains {@code proc} and {@code sys}: {@code /}, or a test directory
     */
    public MountChecks(Path root, Path directory) {
        this.root = root;
        this.directory = DiskChecks.existing(directory);
    }

    public List<Finding> run() {
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

    /**
     * Returns the mount that contains a path: the one with the longest matching mount point. If several file systems
     * are mounted on this mount point, the last one is effective.
     */
    private Optional<Mount> mount(Path real) throws IOException {
        return SystemFiles.read(root.resolve(MOUNTS))
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

    /**
     * Checks the write cache of the disk. A partition has no queue of its own: the disk's queue is one directory up.
     */
    private Finding cache(Mount mount) {
        try {
            Path device = root.resolve("sys/dev/block").resolve(mount.device()).toRealPath();
            Path file = Stream.of("queue/write_cache", "../queue/write_cache")
                    .map(device::resolve)
                    .filter(Files::isReadable)
                    .findFirst()
                    .orElseThrow(() -> new IOException("no queue"));
            return cache(SystemFiles.read(file).strip());
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
}
