package io.caravan.server.cli.support;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.DurableListStore;
import io.caravan.Shards;
import io.caravan.StoreVersionException;
import io.caravan.VerifyReport;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Describes the directory of an open or closed store. Only reads files, and does not lock the store. */
final class StoreReport {
    /** The size, in bytes, above which verifying a store takes too long for this command. */
    static final long MOST_VERIFIED_BYTES = 256L << 20;

    private static final int MOST_FILES = 20_000;
    private static final String PART = "store";
    private static final String LOCK = "caravan.lock";

    private final SupportFile file;
    private final Path directory;
    private final String part;
    private long bytes;

    private StoreReport(SupportFile file, Path directory, String part) {
        this.file = file;
        this.directory = directory;
        this.part = part;
    }

    /** Adds the data about a store's directory, or about each of its shards. */
    static void report(SupportFile file, Path directory, VerifyReport.Progress progress) {
        List<Path> directories;
        try {
            directories = Shards.directories(directory);
        } catch (CaravanException damaged) {
            file.missing(PART, "the file with the number of shards cannot be read");
            return;
        }
        for (Path shard : directories) {
            String part = directories.size() == 1 ? PART : PART + "/" + shard.getFileName();
            new StoreReport(file, shard, part).report(progress);
        }
    }

    /** Adds descriptions of the files and their headers, and the result of verifying the store. */
    private void report(VerifyReport.Progress progress) {
        try {
            file.json(
                    part + "/files.json", "files of the store's directory, with the fields of their headers", files());
        } catch (IOException | CaravanException unreadable) {
            file.missing(part, "--store is not a directory that this user may read");
            return;
        }
        verify(progress);
    }

    private Map<String, ?> files() throws IOException {
        List<Path> paths;
        try (Stream<Path> listed = Files.list(directory)) {
            paths = listed.sorted().limit(MOST_FILES).toList();
        }
        List<Object> ours = new ArrayList<>();
        List<Object> others = new ArrayList<>();
        for (Path path : paths) {
            String name = path.getFileName().toString();
            boolean known = FileNames.isOurs(name) || name.equals(LOCK);
            describe(path).ifPresent(described -> {
                if (known) {
                    described.put("name", name);
                }
                (known ? ours : others).add(described);
            });
        }
        return Output.fields("all", paths.size() < MOST_FILES, "files", ours, "filesThatAreNotTheStores", others);
    }

    /** Describes a file; returns empty if the file, such as a recycled log segment, no longer exists. */
    private Optional<Map<String, Object>> describe(Path path) throws IOException {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            Map<String, Object> described = new LinkedHashMap<>();
            described.put("bytes", attributes.size());
            described.put("modified", attributes.lastModifiedTime().toInstant().toString());
            described.put("directory", attributes.isDirectory());
            for (FileNames kind : FileNames.values()) {
                if (kind.number(path.getFileName().toString()).isPresent()) {
                    bytes += attributes.size();
                    head(path, kind, described);
                }
            }
            return Optional.of(described);
        } catch (NoSuchFileException gone) {
            return Optional.empty();
        }
    }

    /** Reads the fixed fields of a file header, and no more, because values may follow them. */
    private static void head(Path path, FileNames kind, Map<String, Object> described) {
        described.put("kind", kind.letters());
        try (InputStream in = Files.newInputStream(path)) {
            ByteBuffer head = ByteBuffer.wrap(in.readNBytes(CheckpointLayout.HEADER_BYTES))
                    .order(ByteOrder.LITTLE_ENDIAN);
            FileHeader.Fields fields = FileHeader.get(head, kind.letters(), "");
            described.put("version", head.getInt(FileHeader.VERSION));
            described.put("storeId", Long.toHexString(fields.storeId()));
            described.put("number", fields.number());
            described.put("segmentBytes", fields.segmentBytes());
            if (kind == FileNames.CHECKPOINT && head.limit() == CheckpointLayout.HEADER_BYTES) {
                described.put("startLsn", head.getLong(CheckpointLayout.START_LSN));
            }
        } catch (StoreVersionException newer) {
            described.put("problem", "another version of the format");
        } catch (CaravanException damaged) {
            described.put("problem", "the header is damaged");
        } catch (IOException unreadable) {
            described.put("problem", "the file cannot be read");
        }
    }

    private void verify(VerifyReport.Progress progress) {
        String verified = part + "/verify.json";
        if (bytes > MOST_VERIFIED_BYTES) {
            file.missing(verified, "the store is too large to be verified by this command: run caravan verify");
            return;
        }
        try {
            VerifyReport report = DurableListStore.verifyWhileOpen(directory, progress);
            file.json(verified, "the result of verifying the store", figures(report));
        } catch (CaravanException unreadable) {
            file.missing(
                    verified,
                    "the store cannot be verified (" + unreadable.getClass().getSimpleName() + "): run caravan verify");
        }
    }

    private static Map<String, ?> figures(VerifyReport report) {
        List<?> faults = report.faults().stream()
                .limit(MOST_FILES)
                .map(StoreReport::fault)
                .toList();
        return Output.fields(
                "clean", report.clean(),
                "checkpoints", report.checkpoints(),
                "frames", report.frames(),
                "lists", report.lists(),
                "entries", report.entries(),
                "bytes", report.bytes(),
                "faults", faults);
    }

    /** Returns the location of a fault, without its message. */
    private static Map<String, ?> fault(CaravanException fault) {
        String problem = fault.getClass().getSimpleName();
        if (!(fault instanceof CorruptStoreException damage)) {
            return Map.of("problem", problem);
        }
        Path path = Path.of(damage.file()).getFileName();
        String name = path == null ? "" : path.toString();
        return Output.fields(
                "problem", problem,
                "file", FileNames.isOurs(name) ? name : AllowList.HIDDEN,
                "offset", damage.offset(),
                "document", damage.id(),
                "sequence", damage.sequence());
    }
}
