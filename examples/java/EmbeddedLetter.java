import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.DurableListStore;
import io.caravan.Entry;
import io.caravan.WriteBatch;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Keeps a letter in an embedded store: appends each edit, and then replaces the edits with a snapshot. Run the program
 * several times with the same directory.
 */
public final class EmbeddedLetter {
    /** The list id of the letter. Any long is a valid id, and the application maps its documents to ids. */
    private static final long LETTER = 7;

    private final DurableListStore store;

    private EmbeddedLetter(DurableListStore store) {
        this.store = store;
    }

    public static void main(String[] arguments) {
        // Creates the directory and the store if they are missing. When open returns, the store has recovered: it
        // contains every write that was ever acknowledged, even if the last run ended in a crash or a power failure.
        try (DurableListStore store = DurableListStore.open(Path.of(arguments[0]))) {
            EmbeddedLetter letter = new EmbeddedLetter(store);
            letter.print("found");
            letter.append("Dear Ada,", "how are you?");
            letter.print("appended");
            letter.replaceWithSnapshot();
            letter.print("replaced");
        }
        // close() fsynced all accepted writes and published a checkpoint, so the next open replays almost nothing.
    }

    private void append(String... edits) {
        CompletableFuture<?>[] acknowledgments = new CompletableFuture<?>[edits.length];
        for (int i = 0; i < edits.length; i++) {
            // When append returns, the store has accepted the edit, but a crash can still undo it. The store copies the
            // bytes. If the store has no space for the edit, append waits; if the disk is full, the future fails.
            acknowledgments[i] = store.append(LETTER, edits[i].getBytes(UTF_8));
        }
        // A future completes once the edit is on disk. Edits that are accepted at about the same time share one fsync,
        // so append all of them before you wait. Report them to the user as saved only after the wait.
        CompletableFuture.allOf(acknowledgments).join();
    }

    private void replaceWithSnapshot() {
        // Reads a consistent view of the edits, oldest first. A read returns only what a crash cannot undo. For a list
        // that may not fit in memory, use get, which streams the entries.
        List<Entry> edits = store.read(LETTER);
        String snapshot = edits.stream().map(EmbeddedLetter::text).collect(Collectors.joining(" "));
        long next = edits.get(edits.size() - 1).sequence() + 1;
        // The snapshot and the trim take effect together or not at all, even if the process crashes. If another thread
        // has appended since the read, the batch changes nothing and fails with SequenceConflictException.
        store.write(WriteBatch.create()
                        .expect(LETTER, next)
                        .append(LETTER, snapshot.getBytes(UTF_8))
                        .trimTo(LETTER, next))
                .join();
    }

    private void print(String action) {
        System.out.println(action + ":");
        store.read(LETTER).forEach(entry -> System.out.println("  " + entry.sequence() + " " + text(entry)));
    }

    private static String text(Entry entry) {
        return new String(entry.value(), UTF_8);
    }
}
