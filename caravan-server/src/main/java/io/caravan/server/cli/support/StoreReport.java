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
import java.util.stream.Stream;

/** Describes the directory of an open or closed store. Only reads files, and does not lock the store. */
final class StoreReport {
    /** The size, in bytes, above which verifying a store takes too long for this command. */
    private static final long MOST_VERIFIED_BYTES = 256L << 20;

    private static final String LOCK = "caravan.lock";

    private StoreReport() {}

    /** Adds descriptions of the files of a store, or of each of its shards, and the results of verifying them. */
    static void report(SupportFile file, Path directory, VerifyReport.Progress progress) {
        List<Path> shards;
        try {
            shards = Shards.directories(directory);
        } catch (CaravanException damaged) {
            file.missing("store", "the file with the number of shards cannot be read");
            return;
        }
        for (Path shard : shards) {
            boolean only = shards.size() == 1;
            String part = only ? "store" : "store/" + shard.getFileName();
            try {
                report(file, shard, part, progress);
            } catch (IOException unreadable) {
                file.missing(part, (only ? "--store" : "it") + " is not a directory that this user may read");
            }
        }
    }

    private static void report(SupportFile file, Path directory, String part, VerifyReport.Progress progress)
            throws IOException {
        List<Map<String, Object>> files = new ArrayList<>();
        long bytes = 0;
        for (Path path : listed(directory)) {
            try {
                BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
                files.add(described(path, attributes));
                bytes += FileNames.isOurs(path.getFileName().toString()) ? attributes.size() : 0;
            } catch (NoSuchFileException gone) {
                // A file, such as a recycled log segment, may be deleted at any time.
            }
        }
        file.json(part + "/files.json", "files of the store's directory, with the fields of their headers", files);
        String verified = part + "/verify.json";
        if (bytes > MOST_VERIFIED_BYTES) {
            file.missing(verified, "the store is too large to be verified by this command: run caravan verify");
            return;
        }
        try {
            VerifyReport report = DurableListStore.verifyWhileOpen(directory, progress);
            file.json(
                    verified,
                    "the result of verifying the store",
                    Output.fields(
                            "clean",
                            report.clean(),
                            report.withFaults(List.of()),
                            "faults",
                            report.faults().stream().map(StoreReport::fault).toList()));
        } catch (CaravanException unreadable) {
            file.missing(
                    verified,
                    "the store cannot be verified (" + unreadable.getClass().getSimpleName() + "): run caravan verify");
        }
    }

    private static List<Path> listed(Path directory) throws IOException {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.sorted().toList();
        }
    }

    private static String name(Path path) {
        String name = String.valueOf(path.getFileName());
        return FileNames.isOurs(name) || name.equals(LOCK) ? name : AllowList.HIDDEN;
    }

    private static Map<String, Object> described(Path path, BasicFileAttributes attributes) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("name", name(path));
        described.put("bytes", attributes.size());
        described.put("modified", attributes.lastModifiedTime().toInstant().toString());
        described.put("directory", attributes.isDirectory());
        for (FileNames kind : FileNames.values()) {
            if (kind.number(String.valueOf(path.getFileName())).isPresent()) {
                head(path, kind, described);
            }
        }
        return described;
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

    private static Map<String, ?> fault(CaravanException fault) {
        String problem = fault.getClass().getSimpleName();
        return fault instanceof CorruptStoreException damage
                ? Output.fields(
                        "problem", problem,
                        "file", name(Path.of(damage.file())),
                        "offset", damage.offset(),
                        "document", damage.id(),
                        "sequence", damage.sequence())
                : Map.of("problem", problem);
    }
}
