package io.caravan.server.document;

import static io.caravan.server.document.Documents.fork;
import static io.caravan.server.document.Documents.name;
import static io.caravan.server.document.Documents.rejected;
import static io.caravan.server.document.Documents.values;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.StoreVersionException;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.ImportStep.Kind;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.Spaces;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests the effects of space settings on documents, without a protocol. */
class SpacesTest {
    /** The attributes of a document that is copied from another server. */
    private static final DocumentAttributes COPIED =
            DocumentAttributes.NONE.with(DocumentAttributes.ORIGIN, new Origin("x/1", 0));

    @AutoClose
    private Documents documents = new Documents();

    private Spaces spaces() {
        return documents.service().spaces();
    }

    private static Prefix prefix(String text) {
        return Prefix.of(text.getBytes(UTF_8));
    }

    private void set(String prefix, SpaceSetting setting, long value) {
        documents.set(prefix, setting, value);
    }

    private Space space(String prefix) {
        return Objects.requireNonNull(spaces().get(prefix(prefix)));
    }

    private void assertUsage(String prefix, long count, long bytes) {
        assertThat(space(prefix).documents()).as("documents").isEqualTo(count);
        assertThat(space(prefix).bytes()).as("bytes").isEqualTo(bytes);
    }

    @Test
    void longestPrefixAppliesWithoutInheritance() {
        set("a/", SpaceSetting.VALUE_BYTES, 3);
        set("a/b", SpaceSetting.DOCUMENT_VALUES, 2);
        rejected(Reason.TOO_LARGE, () -> documents.push("a/x", "long"));
        documents.push("a/bc", "long", "longer");
        rejected(Reason.TOO_LARGE, () -> documents.push("a/bc", "l"));
        documents.push("a", "long");
        documents.push("b/x", "long");
        assertThat(spaces().remove(prefix("a/b"))).isTrue();
        assertThat(spaces().remove(prefix("a/b"))).isFalse();
        rejected(Reason.TOO_LARGE, () -> documents.push("a/bc", "long"));
        documents.push("a/bc", "l");
    }

    /** A space that is created just before an append locks the name counts the appended values. */
    @Test
    void appendThatSeesNewSpaceIsCounted() {
        documents.push("a/x", "1234");
        documents.service().coldDocuments(new ColdDocuments() {
            @Override
            public boolean fetching(DocumentName name) {
                if (spaces().find(name) == null) {
                    set("a/", SpaceSetting.DOCUMENT_VALUES, 9);
                }
                return false;
            }
        });
        documents.push("a/x", "56");
        assertUsage("a/", 1, 6);
    }

    /** The search for the longest prefix must have the same result as a linear search. */
    @Test
    void findsLongestPrefixAmongNestedPrefixes() {
        Random random = new Random(8);
        List<String> prefixes = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String text = text(random, 1 + random.nextInt(6));
            set(text, SpaceSetting.DOCUMENT_VALUES, 9);
            prefixes.add(text);
        }
        for (int i = 0; i < 3_000; i++) {
            String name = text(random, 1 + random.nextInt(9));
            @Nullable
            String longest = prefixes.stream()
                    .filter(name::startsWith)
                    .reduce((one, other) -> one.length() < other.length() ? other : one)
                    .orElse(null);
            Space found = spaces().find(DocumentName.of(name));
            assertThat(found == null ? null : found.prefix().label()).as(name).isEqualTo(longest);
        }
    }

    private static String text(Random random, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) ('a' + random.nextInt(3)));
        }
        return text.toString();
    }

    @Test
    void oversizedWriteIsRejectedWithoutEffect() {
        set("d", SpaceSetting.VALUE_BYTES, 4);
        set("d", SpaceSetting.DOCUMENT_VALUES, 3);
        set("d", SpaceSetting.DOCUMENT_BYTES, 8);
        documents.push("d", "1234", "12");
        rejected(Reason.TOO_LARGE, () -> documents.push("d", "12345"));
        rejected(Reason.TOO_LARGE, () -> documents.push("d", "1", "1"));
        rejected(Reason.TOO_LARGE, () -> documents.push("d", "123"));
        rejected(Reason.TOO_LARGE, () -> documents.create("d2", "text/plain", "12345"));
        assertThat(documents.find("d2")).isNull();
        assertThat(documents.read("d")).containsExactly("1234", "12");
        documents.push("d", "12");
        assertUsage("d", 1, 8);
        assertThat(space("d").status().rejectedSizes()).isEqualTo(4);
    }

    /** A write may replace all values of a document at its limit, because limits apply to the state after the write. */
    @Test
    void writeCanTrimToStayWithinLimit() {
        set("d", SpaceSetting.DOCUMENT_BYTES, 4);
        documents.push("d", "12", "34");
        documents.edit("d", document -> document.trimTo(document.append(values("abc"))));
        assertThat(documents.read("d")).containsExactly("abc");
        assertUsage("d", 1, 3);
        documents.push("d", "d");
        rejected(Reason.TOO_LARGE, () -> documents.push("d", "e"));
    }

    /** Limits apply to the state after the write, so a value that the write deletes again may be of any length. */
    @Test
    void writeCanDeleteTooLongValueThatItHasAppended() {
        set("d", SpaceSetting.VALUE_BYTES, 1);
        documents.edit("d", document -> {
            document.append(values("long"));
            document.delete();
            document.append(values("1"));
        });
        assertThat(documents.read("d")).containsExactly("1");
        assertUsage("d", 1, 1);
    }

    @Test
    void limitOnOneDocumentRejectsEntireWrite() {
        set("small", SpaceSetting.VALUE_BYTES, 1);
        set("large", SpaceSetting.QUOTA_BYTES, 100);
        rejected(
                Reason.TOO_LARGE,
                () -> together(
                        edits -> {
                            edits.document(name("large")).append(values("first"));
                            edits.document(name("small")).append(values("second"));
                        },
                        "large",
                        "small"));
        assertThat(documents.find("large")).isNull();
        assertThat(documents.find("small")).isNull();
        assertUsage("large", 0, 0);
        assertUsage("small", 0, 0);
    }

    @Test
    void appendTrimsOldestValuesByCount() {
        documents.push("d", "0", "1", "2", "3", "4");
        set("d", SpaceSetting.RETAINED_VALUES, 3);
        assertThat(documents.read("d")).hasSize(5);
        assertThat(documents.push("d", "5")).isEqualTo(5);
        assertThat(documents.read("d")).containsExactly("3", "4", "5");
        documents.push("d", "6", "7", "8", "9");
        assertThat(documents.read("d")).containsExactly("7", "8", "9");
        assertUsage("d", 1, 3);
        assertThat(space("d").status().retentionTrimmedValues()).isEqualTo(7);
        documents.push("new", "0");
        documents.create("d/new", "text/plain", "a", "b", "c", "d");
        assertThat(documents.read("d/new")).containsExactly("b", "c", "d");
    }

    @Test
    void appendTrimsByBytesAndKeepsNewestValue() {
        set("d", SpaceSetting.RETAINED_BYTES, 6);
        documents.push("d", "aa", "bb", "cc");
        assertThat(documents.read("d")).containsExactly("aa", "bb", "cc");
        documents.push("d", "d");
        assertThat(documents.read("d")).containsExactly("bb", "cc", "d");
        documents.push("d", "1", "2", "3", "4", "5", "6", "7");
        assertThat(documents.read("d")).containsExactly("2", "3", "4", "5", "6", "7");
        documents.push("d", "longer than that");
        assertThat(documents.read("d")).containsExactly("longer than that");
        documents.push("d", "x");
        assertThat(documents.read("d")).containsExactly("x");
        assertUsage("d", 1, 1);
    }

    /** The recorded sizes must match the values after any combination of appends, trims, and deletes in a write. */
    @Test
    void countsMatchValuesAfterRandomWrites() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        set("d", SpaceSetting.RETAINED_BYTES, 60);
        for (int i = 0; i < 400; i++) {
            documents.edit("d" + random.nextInt(3), document -> live(document, random.nextLong()));
            long bytes = 0;
            int count = 0;
            for (int each = 0; each < 3; each++) {
                List<String> values = documents.read("d" + each);
                long own = values.stream().mapToLong(String::length).sum();
                assertThat(own).as("seed %d", seed).isLessThanOrEqualTo(60);
                bytes += own;
                count += documents.find("d" + each) == null ? 0 : 1;
            }
            assertThat(space("d").bytes()).as("seed %d", seed).isEqualTo(bytes);
            assertThat(space("d").documents()).as("seed %d", seed).isEqualTo(count);
        }
    }

    private static void live(EditedDocument document, long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 4; i++) {
            int kind = random.nextInt(8);
            DocumentInfo info = document.info();
            if (kind == 0) {
                document.delete();
            } else if (kind < 3 && info != null) {
                document.trimTo(info.firstSequence() + random.nextInt(5));
            } else {
                document.append(values("v".repeat(1 + random.nextInt(20)), "w".repeat(random.nextInt(3))));
            }
        }
        // Appends last, because only an append applies the retention of the space.
        document.append(values("end"));
    }

    @Test
    void retentionWaitsUntilForksAreDeleted() {
        set("d", SpaceSetting.RETAINED_VALUES, 2);
        documents.push("d", "a", "b");
        documents.create("fork", fork("d", OptionalLong.empty()));
        documents.push("d", "c");
        assertThat(documents.read("d")).containsExactly("a", "b", "c");
        documents.delete("fork");
        documents.push("d", "d");
        assertThat(documents.read("d")).containsExactly("c", "d");
    }

    @Test
    void forkRetentionTrimsSharedValuesFirst() {
        documents.push("source", "a", "b");
        set("fork", SpaceSetting.RETAINED_VALUES, 2);
        documents.create("fork", fork("source", OptionalLong.empty()));
        documents.push("fork", "c");
        assertThat(documents.read("fork")).containsExactly("b", "c");
        documents.push("fork", "d", "e");
        assertThat(documents.read("fork")).containsExactly("d", "e");
        assertThat(documents.read("source")).containsExactly("a", "b");
        assertUsage("fork", 1, 2);
    }

    @Test
    void quotaIsEnforcedAndFreedImmediately() {
        documents.push("d/0", "1234");
        set("d/", SpaceSetting.QUOTA_BYTES, 10);
        set("d/", SpaceSetting.QUOTA_DOCUMENTS, 2);
        assertUsage("d/", 1, 4);
        documents.push("d/1", "123456");
        rejected(Reason.OVER_QUOTA, () -> documents.push("d/1", "1"));
        rejected(Reason.OVER_QUOTA, () -> documents.push("d/2", ""));
        rejected(Reason.OVER_QUOTA, () -> documents.create("d/2", "text/plain"));
        documents.push("d/1", "");
        documents.edit("d/1", document -> document.trimTo(1));
        documents.push("d/1", "123456");
        documents.delete("d/0");
        documents.push("d/2", "1234");
        rejected(Reason.OVER_QUOTA, () -> documents.push("d/2", "5"));
        assertUsage("d/", 2, 10);
        assertThat(space("d/").status().rejectedQuotas()).isEqualTo(4);
        set("d/", SpaceSetting.QUOTA_BYTES, 11);
        documents.push("d/2", "5");
    }

    @Test
    void recountsUsageAfterSpaceChangesAndRestart() {
        documents.push("a/b/1", "12");
        documents.push("a/2", "345");
        set("a/", SpaceSetting.QUOTA_BYTES, 5);
        assertUsage("a/", 2, 5);
        set("a/b/", SpaceSetting.QUOTA_BYTES, 2);
        assertUsage("a/", 1, 3);
        assertUsage("a/b/", 1, 2);
        rejected(Reason.OVER_QUOTA, () -> documents.push("a/b/1", "1"));
        documents.reopen();
        assertUsage("a/", 1, 3);
        rejected(Reason.OVER_QUOTA, () -> documents.push("a/b/1", "1"));
        spaces().remove(prefix("a/b/"));
        assertUsage("a/", 2, 5);
        rejected(Reason.OVER_QUOTA, () -> documents.push("a/2", "1"));
    }

    /** A write that the store rejects must not be charged to quotas or rates. */
    @Test
    void writeRejectedByStoreIsNotCounted() {
        documents.close();
        documents = new Documents(ListStore.inMemory(StoreConfig.builder(Path.of("memory"))
                .heapSegmentBytes(1 << 20)
                .maxHeapBytes(1 << 20)
                .maxValueBytes(1 << 18)
                .build()));
        set("d", SpaceSetting.QUOTA_BYTES, 1 << 21);
        set("d", SpaceSetting.WRITES_PER_SECOND, 2);
        documents.push("d", "1");
        String large = "v".repeat(1 << 18);
        for (int i = 0; i < 3; i++) {
            assertThatExceptionOfType(OutOfSpaceException.class)
                    .isThrownBy(() -> documents.push("d", large, large, large, large));
        }
        assertUsage("d", 1, 1);
        documents.push("d", "2");
    }

    @Test
    void enforcesRateAndReportsRetryDelay() {
        set("d", SpaceSetting.WRITES_PER_SECOND, 4);
        for (int i = 0; i < 4; i++) {
            documents.push("d" + i, "v");
        }
        DocumentException rejection = rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
        assertThat(rejection.expected()).isBetween(1L, 251L);
        assertThat(documents.find("d")).isNull();
        documents.delete("d0");
        documents.pass(Duration.ofMillis(rejection.expected()));
        documents.push("d", "v");
        rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
        documents.pass(Duration.ofHours(1));
        for (int i = 0; i < 4; i++) {
            documents.push("d", "v");
        }
        rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
        assertThat(space("d").status().rejectedRates()).isEqualTo(3);
    }

    @Test
    void writeBeyondByteRateDelaysNextWrites() {
        set("d", SpaceSetting.BYTES_PER_SECOND, 10);
        documents.push("d", "v".repeat(30));
        DocumentException rejection = rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
        assertThat(rejection.expected()).isBetween(2_100L, 2_101L);
        documents.pass(Duration.ofMillis(2_099));
        rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
        documents.pass(Duration.ofMillis(2));
        documents.push("d", "v");
    }

    /**
     * A write to several documents must be charged to the rates only once. If each append were charged, the rates would
     * always reject this write.
     */
    @Test
    void writeToSeveralDocumentsIsChargedOnce() {
        set("d", SpaceSetting.WRITES_PER_SECOND, 2);
        set("d", SpaceSetting.BYTES_PER_SECOND, 10);
        String[] names = {"d1", "d2", "d3"};
        together(
                edits -> Stream.of(names)
                        .forEach(each -> edits.document(name(each)).append(values("v".repeat(9)))),
                names);
        assertThat(rejected(Reason.RATE_LIMITED, () -> documents.push("d4", "v"))
                        .expected())
                .isBetween(1_000L, 1_001L);
    }

    @Test
    void rateChangeClearsOldDebt() {
        set("d", SpaceSetting.BYTES_PER_SECOND, 1);
        documents.push("d", "v".repeat(1_000));
        rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
        set("d", SpaceSetting.BYTES_PER_SECOND, 1_000);
        documents.push("d", "v");
    }

    /** A fraction of a rate token must not allow a write. */
    @Test
    void writeRequiresFullRateToken() {
        set("d", SpaceSetting.WRITES_PER_SECOND, 1);
        documents.push("d", "v");
        documents.pass(Duration.ofMillis(990));
        assertThat(rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v")).expected())
                .isBetween(10L, 11L);
        documents.pass(Duration.ofMillis(10));
        documents.push("d", "v");
    }

    /** A write that exceeds the byte rate must not be charged to the write rate. */
    @Test
    void byteRateRejectionDoesNotChargeWriteRate() {
        set("d", SpaceSetting.WRITES_PER_SECOND, 2);
        set("d", SpaceSetting.BYTES_PER_SECOND, 1);
        documents.push("d", "v");
        for (int i = 0; i < 5; i++) {
            rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
        }
        set("d", SpaceSetting.BYTES_PER_SECOND, 0);
        documents.push("d", "v");
        rejected(Reason.RATE_LIMITED, () -> documents.push("d", "v"));
    }

    @Test
    void archiveRestoreIsCountedButNeverRejected() {
        set("d", SpaceSetting.VALUE_BYTES, 1);
        set("d", SpaceSetting.QUOTA_BYTES, 1);
        set("d", SpaceSetting.RETAINED_VALUES, 1);
        set("d", SpaceSetting.WRITES_PER_SECOND, 1);
        for (String name : List.of("d1", "d2")) {
            documents.editLocal(
                    name, document -> document.restore(Attributes.EMPTY, null, 7, values("restored", "whole")));
        }
        DocumentRestoration long_ = new DocumentRestoration(documents.service(), name("d3"), 0, false);
        long_.append(values("much", "more"));
        long_.finish(Attributes.EMPTY, null);
        assertThat(documents.read("d1")).containsExactly("restored", "whole");
        assertThat(documents.read("d3")).containsExactly("much", "more");
        assertUsage("d", 3, 34);
        rejected(Reason.OVER_QUOTA, () -> documents.push("d4", "v"));
    }

    @Test
    void importObeysLimitsAndRetention() {
        set("d", SpaceSetting.RETAINED_VALUES, 2);
        set("d", SpaceSetting.VALUE_BYTES, 3);
        long id = documents.<Long>importStep("d", Kind.BEGIN, List.of(), 5L);
        imported(id, 5, "a", "b", "c");
        rejected(Reason.TOO_LARGE, () -> imported(id, 8, "long"));
        imported(id, 8, "d");
        documents.importStep("d", Kind.END, List.of(), id, 9L);
        assertThat(documents.read("d")).containsExactly("c", "d");
        assertUsage("d", 1, 2);
    }

    /**
     * A copy that has lost values to the retention of its space must not have an origin again. A move to this server
     * would then count as complete, and delete the values at the source.
     */
    @Test
    void copyWithLostValuesNeverRegainsOrigin() {
        set("d", SpaceSetting.RETAINED_BYTES, 10);
        documents.importStep("d", Kind.WHOLE, Replaced.NOTHING, COPIED, values("1111", "2222"), 0L);
        assertThat(origin()).isEqualTo(new Origin("x/1", 2));
        assertThat(resumed(0, "3")).isEqualTo(new Origin("x/1", 3));
        assertThat(resumed(0, "44444444")).isNull();
        assertThat(resumed(0, "5")).isNull();
        assertThat(resumed(0)).isNull();
        // The source has trimmed the values that the copy lacks.
        assertThat(resumed(2)).isEqualTo(new Origin("x/1", 5));
        // A client has trimmed the copy.
        documents.edit("d", document -> document.trimTo(4));
        assertThat(resumed(2)).isNull();
    }

    @Test
    void agedCopyHasNoOrigin() {
        set("d", SpaceSetting.RETAINED_SECONDS, 10);
        documents.importStep("d", Kind.WHOLE, Replaced.NOTHING, COPIED, values("1111", "2222"), 0L);
        documents.pass(Duration.ofSeconds(1));
        assertThat(resumed(0, "3")).isEqualTo(new Origin("x/1", 3));
        documents.pass(Duration.ofSeconds(30));
        assertThat(resumed(0, "4")).isNull();
        assertThat(documents.read("d")).containsExactly("4");
    }

    /** An import that takes longer than the age would otherwise never succeed. */
    @Test
    void copyInPartsAgesOnlyFromItsEnd() {
        set("d", SpaceSetting.RETAINED_SECONDS, 10);
        long id = documents.<Long>importStep("d", Kind.BEGIN, Replaced.NOTHING, COPIED, List.of(), 0L);
        imported(id, 0, "a", "b");
        documents.pass(Duration.ofSeconds(1));
        imported(id, 2, "c");
        documents.pass(Duration.ofSeconds(30));
        imported(id, 3, "d");
        documents.importStep("d", Kind.END, List.of(), id, 4L);
        assertThat(documents.read("d")).containsExactly("a", "b", "c", "d");
        assertThat(origin()).isEqualTo(new Origin("x/1", 4));
        documents.awaitSweep();
        documents.pass(Duration.ofSeconds(30));
        assertThat(resumed(0, "e")).isNull();
        assertThat(documents.read("d")).containsExactly("e");
    }

    /** Checks a copy whose values were trimmed between two steps of its import. */
    @Test
    void sweptCopyHasNoOrigin() {
        set("d", SpaceSetting.RETAINED_SECONDS, 10);
        documents.importStep("d", Kind.WHOLE, Replaced.NOTHING, COPIED, values("1111", "2222"), 0L);
        documents.pass(Duration.ofSeconds(1));
        assertThat(resumed(0, "3")).isEqualTo(new Origin("x/1", 3));
        documents.pass(Duration.ofSeconds(30));
        documents.awaitSweep();
        documents.awaitSweep();
        assertThat(documents.read("d")).isEmpty();
        assertThat(resumed(0, "4")).isNull();
    }

    private @Nullable Origin origin() {
        return documents.found("d").attributes().origin();
    }

    /** Continues the import of a document whose source retains the values from {@code first}. */
    private @Nullable Origin resumed(long first, String... values) {
        DocumentInfo info = documents.found("d");
        documents.importStep(
                "d", Kind.CONTINUE, Replaced.NOTHING, COPIED, values(values), info.id(), info.nextSequence(), first);
        return origin();
    }

    @Test
    void countsImportThatReplacesDeletedDocument() {
        set("d", SpaceSetting.QUOTA_BYTES, 100);
        documents.push("d", "old");
        long id =
                documents.<Long>importStep("d", Kind.BEGIN, Replaced.ANYTHING, DocumentAttributes.NONE, List.of(), 0L);
        imported(id, 0, "new value");
        documents.delete("d");
        documents.importStep("d", Kind.END, List.of(), id, 1L);
        assertThat(documents.read("d")).containsExactly("new value");
        assertUsage("d", 1, 9);
    }

    private void imported(long id, long sequence, String... values) {
        documents.importStep("d", Kind.ADD, values(values), id, sequence);
    }

    private void together(Consumer<DocumentEdits> change, String... names) {
        documents.change(Stream.of(names).map(Documents::name).toList(), edits -> {
            change.accept(edits);
            return 0;
        });
    }

    /** The counts must survive a setting change, because a reset would lift all quotas for a moment. */
    @Test
    void countsSurviveSettingChanges() {
        set("d/", SpaceSetting.QUOTA_BYTES, 5);
        documents.push("d/a", "123");
        Space before = space("d/");
        set("d/", SpaceSetting.QUOTA_DOCUMENTS, 2);
        documents.push("d/b", "45");
        assertThat(before.bytes()).isEqualTo(5);
        assertUsage("d/", 2, 5);
        rejected(Reason.OVER_QUOTA, () -> documents.push("d/b", "6"));
        set("d/b", SpaceSetting.QUOTA_BYTES, 3);
        assertUsage("d/", 1, 3);
        assertUsage("d/b", 1, 2);
        assertThat(before.bytes()).isEqualTo(5);
    }

    /** A transaction may append before it frees the quota for the append, because it is atomic. */
    @Test
    void transactionCanReuseQuotaThatItFrees() {
        set("d/", SpaceSetting.QUOTA_BYTES, 5);
        set("d/", SpaceSetting.QUOTA_DOCUMENTS, 1);
        documents.push("d/a", "12345");
        together(
                edits -> {
                    edits.document(name("d/b")).append(values("123", "45"));
                    edits.document(name("d/a")).delete();
                },
                "d/a",
                "d/b");
        assertUsage("d/", 1, 5);
        rejected(
                Reason.OVER_QUOTA,
                () -> together(
                        edits -> {
                            edits.document(name("d/b")).delete();
                            edits.document(name("d/c")).append(values("123456"));
                        },
                        "d/b",
                        "d/c"));
        assertUsage("d/", 1, 5);
        assertThat(space("d/").status().rejectedQuotas()).isEqualTo(1);
    }

    @Test
    void rateCountsAppendDeletedInSameTransaction() {
        set("d/", SpaceSetting.WRITES_PER_SECOND, 1);
        Consumer<DocumentEdits> pushAndDelete = edits -> {
            edits.document(name("d/a")).append(values("v"));
            edits.document(name("d/a")).delete();
        };
        together(pushAndDelete, "d/a");
        rejected(Reason.RATE_LIMITED, () -> together(pushAndDelete, "d/a"));
    }

    /** An unknown setting must be rejected, because only a newer release can have written it. */
    @Test
    void rejectsUnknownSettingAsNewerVersion() {
        byte[] settings =
                Attributes.EMPTY.with("max-surprise", new byte[Long.BYTES]).encoded();
        ByteBuffer entry = ByteBuffer.allocate(4 + settings.length)
                .put(new byte[] {1, 0, 1, 'a'})
                .put(settings);
        documents.store().append(-4, entry.array()).join();
        assertThatExceptionOfType(StoreVersionException.class)
                .isThrownBy(() -> documents.reopen())
                .withMessageContaining("list of spaces is of format version 2");
    }

    @Test
    void settingsSurviveRestartAfterManyChanges() {
        Random random = new Random(4);
        for (int i = 1; i <= 500; i++) {
            String prefix = "p" + random.nextInt(9);
            if (random.nextInt(4) == 0) {
                spaces().remove(prefix(prefix));
            } else {
                SpaceSetting setting = SpaceSetting.values()[random.nextInt(SpaceSetting.DURABILITY.ordinal())];
                set(prefix, setting, i);
            }
            if (i % 100 == 0) {
                List<String> before = allSettings();
                documents.reopen();
                assertThat(allSettings()).isEqualTo(before);
            }
        }
        long retained = Objects.requireNonNull(documents.store().info(-4)).count();
        assertThat(retained).isLessThanOrEqualTo(2L * spaces().all().size());
    }

    private List<String> allSettings() {
        return spaces().all().stream()
                .map(space -> space.prefix() + " " + space.settings())
                .toList();
    }

    @Test
    void hostilePrefixesAreRejectedOrDistinguished() {
        assertThatThrownBy(() -> prefix("")).hasMessageContaining("1 to 256 bytes, has 0");
        assertThatThrownBy(() -> prefix("p".repeat(257))).hasMessageContaining("has 257");
        Set<String> labels = new HashSet<>();
        List<byte[]> hostile = List.of(
                "\n".getBytes(UTF_8),
                "\\n".getBytes(UTF_8),
                "\\\\n".getBytes(UTF_8),
                "\u001b[2J".getBytes(UTF_8),
                "\\u001b[2J".getBytes(UTF_8),
                "\u00ff".getBytes(ISO_8859_1),
                "\\xff".getBytes(UTF_8),
                "\ufffd".getBytes(UTF_8),
                "\u0000".getBytes(UTF_8),
                "\u2028".getBytes(UTF_8),
                "p".repeat(256).getBytes(UTF_8));
        for (byte[] each : hostile) {
            spaces().set(Prefix.of(each), before -> before.with(SpaceSetting.DOCUMENT_VALUES, 1));
            labels.add(Prefix.of(each).label());
        }
        assertThat(labels)
                .hasSameSizeAs(hostile)
                .allMatch(label -> label.chars().noneMatch(Character::isISOControl));
        documents.reopen();
        assertThat(spaces().all()).hasSameSizeAs(hostile);
    }

    @Test
    void limitsNumberOfSpaces() {
        for (int i = 0; i < Spaces.MAX_SPACES; i++) {
            set("p" + i, SpaceSetting.DOCUMENT_VALUES, 1);
        }
        assertThatThrownBy(() -> set("one more", SpaceSetting.DOCUMENT_VALUES, 1))
                .hasMessageContaining("remove one first");
        set("p0", SpaceSetting.DOCUMENT_VALUES, 2);
        spaces().remove(prefix("p1"));
        set("one more", SpaceSetting.DOCUMENT_VALUES, 1);
        assertThatThrownBy(() -> set("one more", SpaceSetting.DOCUMENT_VALUES, 0))
                .hasMessageContaining("remove it");
        assertThat(space("one more").settings().get(SpaceSetting.DOCUMENT_VALUES))
                .isEqualTo(1);
    }
}
