package io.caravan.server.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.ModelDocuments.View;
import io.caravan.server.document.ModelDocuments.Views;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.ForwardingListStore;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the results of random writes, and of a crash after each batch, with a model in which forks are copies. */
class DocumentModelTest {
    private static final int STEPS = 300;
    private static final String NAME = "name";
    private static final int NAMES = 7;
    private static final long CATALOG = 0;

    @Test
    @Tag("rounds")
    void crashAfterAnyBatchRestoresModelState() {
        Seeds.forEach(Rounds.of(2, 40), seed -> new DocumentModelTest().run(new Random(seed)));
    }

    private final ModelDocuments model = new ModelDocuments();
    private final List<WriteBatch> batches = new ArrayList<>();
    private final List<Views> moments = new ArrayList<>();

    private void run(Random random) {
        try (ListStore store = recording(ListStore.inMemory())) {
            DocumentService documents = open(store);
            for (int step = 0; step < STEPS; step++) {
                if (random.nextInt(20) == 0) {
                    switchTimestamps(documents, random);
                    rememberMoments();
                }
                change(documents, random, step);
                assertIs(documents, store, model.views(), "after step " + step);
                rememberMoments();
                if (random.nextInt(40) == 0) {
                    documents.close();
                    documents = open(store);
                }
            }
            documents.close();
        }
        assertEveryPrefix();
    }

    /** Records the current state of the model for each batch that was written since the last call. */
    private void rememberMoments() {
        while (moments.size() < batches.size()) {
            moments.add(model.views());
        }
    }

    private ListStore recording(ListStore store) {
        return new ForwardingListStore(store) {
            @Override
            public void write(WriteBatch batch, WriteCallback callback) {
                super.write(batch, callback);
                batches.add(batch);
            }
        };
    }

    private static DocumentService open(ListStore store) {
        return new DocumentService(store, Catalog.open(store, CATALOG), DocumentDurability.SYNC);
    }

    /**
     * Removes the space of the documents, or creates it with or without timestamps. None of this may change the values
     * that readers get.
     */
    private static void switchTimestamps(DocumentService documents, Random random) {
        Prefix prefix = Prefix.of(NAME.getBytes(StandardCharsets.UTF_8));
        if (random.nextBoolean()) {
            documents.spaces().remove(prefix);
        } else {
            documents
                    .spaces()
                    .set(
                            prefix,
                            before -> before.with(SpaceSetting.DOCUMENT_VALUES, STEPS * STEPS)
                                    .with(SpaceSetting.TIMESTAMPS, random.nextInt(2)));
        }
    }

    private void change(DocumentService documents, Random random, int step) {
        DocumentName name = name(random);
        List<String> values = values(random, step);
        switch (random.nextInt(10)) {
            case 0, 1 ->
                check(
                        model.push(name, values),
                        rejectionReason(outcome -> documents.write(
                                List.of(name), Append.of(name, bytes(values), DocumentInfo::count), outcome)));
            case 2, 3, 4 -> add(documents, name, random.nextInt(3) == 0 ? List.of() : values, random);
            case 5 -> create(documents, name, values, null, random);
            case 6, 7 -> create(documents, name, values, point(random), random);
            case 8 -> {
                long to = random.nextInt(12);
                check(
                        model.trim(name, to),
                        rejectionReason(outcome -> documents.write(name, document -> trim(document, to), outcome)));
            }
            default ->
                check(
                        model.delete(name),
                        rejectionReason(outcome -> documents.write(name, EditedDocument::delete, outcome)));
        }
    }

    private static boolean trim(EditedDocument document, long to) {
        document.trimTo(to);
        return true;
    }

    private void add(DocumentService documents, DocumentName name, List<String> values, Random random) {
        boolean close = values.isEmpty() || random.nextInt(20) == 0;
        Producer producer = random.nextBoolean()
                ? null
                : new Producer("p" + random.nextInt(2), random.nextInt(3), random.nextInt(3));
        check(
                model.add(name, values, close, producer),
                DocumentModelTest.<AppendRequest.Added>rejectionReason(outcome -> documents.write(
                        List.of(name),
                        new AppendRequest(name, bytes(values), close, null, null, producer, OptionalLong.empty()),
                        outcome)));
    }

    private void create(
            DocumentService documents,
            DocumentName name,
            List<String> values,
            @Nullable ForkPoint point,
            Random random) {
        String type = random.nextInt(4) == 0 ? "text/plain" : null;
        boolean closed = random.nextInt(10) == 0;
        CreateRequest creation =
                new CreateRequest(type, OptionalLong.empty(), OptionalLong.empty(), closed, bytes(values), point);
        check(
                model.create(name, type, closed, values, point),
                DocumentModelTest.<CreateRequest.Created>rejectionReason(
                        outcome -> documents.create(name, creation, outcome)));
    }

    private static ForkPoint point(Random random) {
        OptionalLong at = random.nextInt(3) == 0 ? OptionalLong.empty() : OptionalLong.of(random.nextInt(10));
        return new ForkPoint(name(random), at, at.isPresent() && random.nextInt(3) == 0 ? random.nextInt(6) : 0);
    }

    private static DocumentName name(Random random) {
        return DocumentName.of(NAME + random.nextInt(NAMES));
    }

    private static List<String> values(Random random, int step) {
        List<String> values = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            values.add("v" + step + "." + i);
        }
        return values;
    }

    private static List<byte[]> bytes(List<String> values) {
        return values.stream()
                .map(value -> value.getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    /** Attempts a write, and returns the reason for its rejection, or null if it is accepted. */
    private static <T> @Nullable Reason rejectionReason(Consumer<Outcome<T>> change) {
        try {
            Outcome.<T>await(change);
            return null;
        } catch (DocumentException rejection) {
            return rejection.reason();
        }
    }

    private static void check(@Nullable Reason expected, @Nullable Reason rejectionReason) {
        assertThat(rejectionReason).isEqualTo(expected);
    }

    /** Replays the batches one by one, and opens and checks the documents after each of them, as after a crash. */
    private void assertEveryPrefix() {
        try (ListStore replayed = ListStore.inMemory()) {
            for (int i = 0; i < batches.size(); i++) {
                replayed.write(batches.get(i), WriteCallback.completing(new CompletableFuture<>()));
                try (DocumentService documents = open(replayed)) {
                    assertIs(documents, replayed, moments.get(i), "after batch " + i);
                }
            }
        }
    }

    private static void assertIs(DocumentService documents, ListStore store, Views expected, String when) {
        Map<DocumentName, View> found = new HashMap<>();
        long cursor = 0;
        do {
            ScanPage page = documents.scan(cursor, 3);
            page.documents().forEach(each -> found.put(each.name(), view(documents, each.name())));
            cursor = page.next();
        } while (cursor != 0);
        assertThat(found).as(when).isEqualTo(expected.documents());
        for (DocumentName gone : expected.gone()) {
            assertThatThrownBy(() -> documents.find(gone))
                    .as("%s %s", gone, when)
                    .isInstanceOf(DocumentException.class);
        }
        assertThat(documents.documents()).as("documents " + when).isEqualTo(expected.kept());
        List<Long> lists = new ArrayList<>();
        store.forEachList(id -> {
            if (id > CATALOG) {
                lists.add(id);
            }
        });
        assertThat(lists).as("lists " + when).hasSize(expected.lists());
    }

    private static View view(DocumentService documents, DocumentName name) {
        DocumentInfo info = Objects.requireNonNull(documents.find(name));
        List<String> values = new ArrayList<>();
        documents.read(name, now -> new SequenceRange(now.firstSequence(), now.nextSequence()), new DocumentReader() {
            @Override
            public void begin(long count) {
                assertThat(count).isEqualTo(info.count());
            }

            @Override
            public boolean next(long sequence, ByteBuffer value) {
                assertThat(sequence).isEqualTo(info.firstSequence() + values.size());
                values.add(StandardCharsets.UTF_8.decode(value).toString());
                return true;
            }
        });
        return new View(
                info.firstSequence(),
                info.attributes().contentType(),
                info.attributes().closed(),
                values);
    }
}
