package io.caravan.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.testing.Crew;
import io.caravan.testing.ForwardingListStore;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the catalog with a map after random edits, and after a simulated crash between any two batches. */
class CatalogModelTest {
    private static final long LIST_ID = 0;
    private static final int STEPS = 600;
    private static final int NAMES = 12;

    /** The expected state of a document. The catalog may choose any id. */
    private record Expected(long firstSequence, long nextSequence, Attributes attributes) {}

    @Test
    @Tag("rounds")
    void catalogMatchesModelAfterEveryBatch() {
        Seeds.forEach(Rounds.of(2, 20), CatalogModelTest::run);
    }

    private static void run(long seed) {
        Random random = new Random(seed);
        RecordingStore store = new RecordingStore(ListStore.inMemory());
        Catalog catalog = Catalog.open(store, LIST_ID);
        Map<DocumentName, Expected> model = new HashMap<>();
        List<Map<DocumentName, Expected>> models = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            if (random.nextInt(3) == 0) {
                append(catalog, random, model);
            } else {
                edit(catalog, random, model);
            }
            while (models.size() < store.batches.size()) {
                models.add(Map.copyOf(model));
            }
            if (random.nextInt(50) == 0) {
                catalog = Catalog.open(store, LIST_ID);
            }
        }
        store.close();
        assertEveryPrefix(store.batches, models);
    }

    private static void edit(Catalog catalog, Random random, Map<DocumentName, Expected> model) {
        Set<DocumentName> names = new LinkedHashSet<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            names.add(DocumentName.of("name" + random.nextInt(NAMES)));
        }
        try (Edit edit = catalog.edit(names)) {
            for (DocumentName name : names) {
                for (int i = 0; i <= random.nextInt(3); i++) {
                    operate(edit.document(name), random);
                }
            }
            takeOver(edit, List.copyOf(names), random);
            edit.commit(WriteCallback.completing(new CompletableFuture<>()), true);
            names.forEach(name -> expect(model, name, edit.document(name).state()));
        }
    }

    /** Appends without an edit, which is possible if the document has had values and the predicate accepts it. */
    private static void append(Catalog catalog, Random random, Map<DocumentName, Expected> model) {
        DocumentName name = DocumentName.of("name" + random.nextInt(NAMES));
        List<byte[]> values = Collections.nCopies(1 + random.nextInt(3), new byte[random.nextInt(10)]);
        boolean accepting = random.nextInt(4) > 0;
        Expected before = model.get(name);
        boolean appended = catalog.append(name, values, Durability.SYNC, state -> accepting, after -> {
            expect(model, name, after);
            return WriteCallback.completing(new CompletableFuture<>());
        });
        boolean accepted = accepting && before != null && before.nextSequence() > 0;
        assertThat(appended).as("appended to %s", name).isEqualTo(accepted);
        if (accepted) {
            long next = before.nextSequence() + values.size();
            assertThat(model).containsEntry(name, new Expected(before.firstSequence(), next, before.attributes()));
        }
    }

    private static void takeOver(Edit edit, List<DocumentName> names, Random random) {
        DocumentEdit one = edit.document(names.get(random.nextInt(names.size())));
        DocumentEdit other = edit.document(names.get(random.nextInt(names.size())));
        if (one != other && other.state() != null && random.nextInt(3) == 0) {
            one.takeOver(other);
        }
    }

    private static void operate(DocumentEdit document, Random random) {
        switch (random.nextInt(7)) {
            case 0, 1, 2 -> document.append(new byte[random.nextInt(10)]);
            case 3 -> document.trimTo(random.nextInt(20));
            case 4 -> document.attributes(Attributes.EMPTY.with("k" + random.nextInt(3), new byte[random.nextInt(3)]));
            default -> document.delete();
        }
    }

    private static void expect(Map<DocumentName, Expected> model, DocumentName name, DocumentState state) {
        if (state == null) {
            model.remove(name);
        } else {
            model.put(name, new Expected(state.firstSequence(), state.nextSequence(), state.attributes()));
        }
    }

    /** Replays the batches one by one. After each batch, opens the catalog as if the process had died at that point. */
    private static void assertEveryPrefix(List<WriteBatch> batches, List<Map<DocumentName, Expected>> models) {
        try (ListStore replayed = ListStore.inMemory()) {
            for (int i = 0; i < batches.size(); i++) {
                replayed.write(batches.get(i), WriteCallback.completing(new CompletableFuture<>()));
                assertIs(Catalog.open(replayed, LIST_ID), replayed, models.get(i), i);
            }
        }
    }

    private static void assertIs(Catalog catalog, ListStore store, Map<DocumentName, Expected> model, int batch) {
        assertThat(catalog.size()).as("documents after batch %d", batch).isEqualTo(model.size());
        Set<Long> lists = new TreeSet<>();
        model.forEach((name, expected) -> {
            DocumentState state = catalog.find(name);
            assertThat(state).as("%s after batch %d", name, batch).isNotNull();
            assertThat(new Expected(state.firstSequence(), state.nextSequence(), state.attributes()))
                    .as("%s after batch %d", name, batch)
                    .isEqualTo(expected);
            if (state.nextSequence() > 0) {
                lists.add(state.id());
            }
        });
        Set<Long> found = new TreeSet<>();
        store.forEachList(id -> {
            if (id != LIST_ID) {
                found.add(id);
            }
        });
        assertThat(found).as("lists after batch %d", batch).isEqualTo(lists);
    }

    @Test
    void concurrentEditsLeaveNoListWithoutName() {
        try (ListStore store = ListStore.inMemory()) {
            Catalog catalog = Catalog.open(store, LIST_ID);
            try (Crew crew = new Crew()) {
                for (int t = 0; t < 4; t++) {
                    Random random = new Random(t);
                    crew.add(() -> {
                        for (int i = 0; i < 3_000; i++) {
                            edit(catalog, random, new HashMap<>());
                            catalog.append(
                                    DocumentName.of("name" + random.nextInt(NAMES)),
                                    List.of(new byte[1]),
                                    Durability.SYNC,
                                    state -> true,
                                    after -> WriteCallback.completing(new CompletableFuture<>()));
                        }
                    });
                }
                crew.run();
            }
            assertNothingIsAstray(catalog, store);
            assertNothingIsAstray(Catalog.open(store, LIST_ID), store);
        }
    }

    private static void assertNothingIsAstray(Catalog catalog, ListStore store) {
        Map<DocumentName, Expected> model = new HashMap<>();
        for (int i = 0; i < NAMES; i++) {
            DocumentName name = DocumentName.of("name" + i);
            expect(model, name, catalog.find(name));
        }
        assertIs(catalog, store, model, -1);
        model.forEach((name, expected) -> {
            DocumentState state = catalog.find(name);
            assertThat(store.read(state.id())).as("values of %s", name).hasSize((int) state.length());
        });
    }

    /** A store that records every batch it accepts. */
    private static final class RecordingStore extends ForwardingListStore {
        private final List<WriteBatch> batches = new ArrayList<>();

        RecordingStore(ListStore store) {
            super(store);
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            super.write(batch, callback);
            batches.add(batch);
        }
    }
}
