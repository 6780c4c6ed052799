package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.engine.Engine;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the durability of spaces across process kills and power cuts while their settings change. */
class SpaceDurabilityPowerLossTest {
    private static final List<String> PREFIXES = List.of("a/", "b/", "c/");
    private static final StoreConfig CONFIG = StoreConfig.builder(Path.of("memory"))
            .maxValueBytes(4096)
            .logBufferBytes(16 * 1024)
            .logSegmentBytes(64 * 1024)
            .heapSegmentBytes(64 * 1024)
            .maxHeapBytes(1 << 20)
            .checkpointFloorBytes(100_000)
            .durability(Durability.SYNC)
            .build();

    private static DocumentService documents(Engine store) {
        return new DocumentService(
                store, Catalog.open(store, DocumentService.CATALOG_LIST_ID), DocumentDurability.SYNC);
    }

    private static Space set(DocumentService documents, String prefix, DocumentDurability level) {
        return documents
                .spaces()
                .set(
                        Prefix.of(prefix.getBytes(UTF_8)),
                        before -> before.with(SpaceSetting.DURABILITY, level.ordinal() + 1L));
    }

    /**
     * The numbers of acknowledged values, of values that must survive a process kill, and of values that must survive a
     * power cut.
     */
    private static final class AcknowledgedCounts {
        private long all;
        private long written;
        private long fsynced;

        void wrote(DocumentDurability level) {
            all++;
            written = level == DocumentDurability.MEMORY ? written : all;
            fsynced = level == DocumentDurability.SYNC ? all : fsynced;
        }

        void raised() {
            written = all;
            fsynced = all;
        }
    }

    @Test
    @Tag("rounds")
    void crashLosesNoDurableValue() {
        Seeds.forEach(Rounds.of(20, 500), seed -> {
            Random random = new Random(seed);
            CrashStorage disk = new CrashStorage(seed);
            AcknowledgedCounts[] counts = {new AcknowledgedCounts(), new AcknowledgedCounts(), new AcknowledgedCounts()
            };
            for (int round = 0; round < 3; round++) {
                disk = live(disk, random, counts);
            }
        });
    }

    private static CrashStorage live(CrashStorage disk, Random random, AcknowledgedCounts[] counts) throws IOException {
        Engine store = Engine.open(CONFIG, disk, System::nanoTime);
        try (DocumentService documents = documents(store)) {
            DocumentDurability[] durabilities = new DocumentDurability[PREFIXES.size()];
            for (int i = 0; i < PREFIXES.size(); i++) {
                durabilities[i] = documents.spaces().durability(name(i));
                DocumentInfo info = documents.find(name(i));
                counts[i].all = info == null ? 0 : info.nextSequence();
                counts[i].raised();
            }
            for (int left = random.nextInt(60); left > 0; left--) {
                int at = random.nextInt(PREFIXES.size());
                if (random.nextInt(8) == 0) {
                    DocumentDurability level = DocumentDurability.values()[random.nextInt(3)];
                    set(documents, PREFIXES.get(at), level);
                    durabilities[at] = level;
                    for (AcknowledgedCounts each : counts) {
                        each.raised();
                    }
                } else {
                    append(documents, at, random.nextInt(300));
                    counts[at].wrote(durabilities[at]);
                    if (durabilities[at] == DocumentDurability.SYNC) {
                        // All earlier writes precede this write in the log.
                        for (AcknowledgedCounts each : counts) {
                            each.raised();
                        }
                    }
                }
            }
            boolean power = random.nextBoolean();
            CrashStorage left =
                    power ? disk.powerCut(new java.util.SplittableRandom(random.nextLong())) : disk.processKill();
            check(left, counts, power);
            return left;
        } finally {
            store.close();
        }
    }

    private static DocumentName name(int at) {
        return DocumentName.of(PREFIXES.get(at) + "document");
    }

    private static void append(DocumentService documents, int at, int bytes) {
        Outcome.<Long>await(
                outcome -> documents.write(name(at), document -> document.append(List.of(new byte[bytes])), outcome));
    }

    private static void check(CrashStorage left, AcknowledgedCounts[] counts, boolean power) throws IOException {
        try (Engine store = Engine.open(CONFIG, left.processKill(), System::nanoTime);
                DocumentService documents = documents(store)) {
            for (int i = 0; i < counts.length; i++) {
                DocumentInfo info = documents.find(name(i));
                assertThat(info == null ? 0 : info.nextSequence())
                        .as("values after a cut of the power: " + power)
                        .isBetween(power ? counts[i].fsynced : counts[i].written, counts[i].all);
            }
        }
    }

    @Test
    void clusterAcceptsOnlyReplicatedDurability() {
        ListStore store = ListStore.inMemory();
        try (DocumentService documents =
                new DocumentService(store, Catalog.open(store, 0), DocumentDurability.REPLICATED)) {
            for (DocumentDurability weaker :
                    List.of(DocumentDurability.MEMORY, DocumentDurability.PROCESS, DocumentDurability.SYNC)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> set(documents, "a/", weaker))
                        .withMessageContaining("every document of a cluster is replicated");
            }
            assertThat(set(documents, "a/", DocumentDurability.REPLICATED).durability())
                    .isEqualTo(DocumentDurability.REPLICATED);
        }
    }
}
