package io.caravan.bench.life;

import io.caravan.bench.peers.PeerStore;
import java.io.IOException;
import java.util.SplittableRandom;

/**
 * The life of 10,000 documents: each change appends 1 to 300 bytes, and every 100 to 1,000 changes of a document a
 * snapshot of 2 to 200 KiB is appended to it and everything before is trimmed; all evenly distributed. At the start the
 * documents are each somewhere before their next snapshot, so that snapshots come evenly from the beginning.
 *
 * <p>The seed alone decides what happens: all stores go through the same life.
 */
final class DocumentLife {
    static final int DOCUMENTS = 10_000;
    static final int MAX_CHANGE_BYTES = 300;
    static final int MIN_SNAPSHOT_BYTES = 2 << 10;
    static final int MAX_SNAPSHOT_BYTES = 200 << 10;
    static final int MIN_CHANGES = 100;
    static final int MAX_CHANGES = 1_000;
    static final int SESSION_DOCUMENTS = 300;
    static final int MIN_SESSION_SNAPSHOTS = 2;
    static final int MAX_SESSION_SNAPSHOTS = 8;

    private static final int SNAPSHOT_SIZES = 64;
    private static final int NO_END = Integer.MAX_VALUE;

    /** Which documents are changed. */
    enum Activity {
        /** Each change goes to a random document. */
        SPREAD("spread", DOCUMENTS),
        /**
         * A few hundred are edited at a time, each change goes to a random one of them; after 2 to 8 snapshots another
         * document takes the place of one.
         */
        SESSIONS("sessions", SESSION_DOCUMENTS);

        private final String title;
        private final int editedAtOnce;

        Activity(String title, int editedAtOnce) {
            this.title = title;
            this.editedAtOnce = editedAtOnce;
        }

        String title() {
            return title;
        }
    }

    private final SplittableRandom random;
    private final byte[][] changes = new byte[MAX_CHANGE_BYTES][];
    private final byte[][] snapshots = new byte[SNAPSHOT_SIZES][];

    /** The documents that are being edited, and how many snapshots they get before others take their places. */
    private final int[] edited;

    private final int[] snapshotsLeft;
    private final boolean[] open = new boolean[DOCUMENTS];

    private final int[] changesLeft = new int[DOCUMENTS];
    private final long[] sequences = new long[DOCUMENTS];
    private final long[] documentBytes = new long[DOCUMENTS];
    private long appends;
    private long appendedBytes;
    private long liveBytes;

    DocumentLife(long seed, Activity activity) {
        random = new SplittableRandom(seed);
        for (int i = 0; i < MAX_CHANGE_BYTES; i++) {
            changes[i] = randomBytes(i + 1);
        }
        for (int i = 0; i < SNAPSHOT_SIZES; i++) {
            snapshots[i] = randomBytes(MIN_SNAPSHOT_BYTES
                    + (int) ((long) (MAX_SNAPSHOT_BYTES - MIN_SNAPSHOT_BYTES) * i / (SNAPSHOT_SIZES - 1)));
        }
        edited = new int[activity.editedAtOnce];
        snapshotsLeft = new int[activity.editedAtOnce];
        for (int place = 0; place < edited.length; place++) {
            open(place);
            changesLeft[edited[place]] = leftAtAnyMoment(MIN_CHANGES, MAX_CHANGES);
            snapshotsLeft[place] = activity == Activity.SPREAD
                    ? NO_END
                    : leftAtAnyMoment(MIN_SESSION_SNAPSHOTS, MAX_SESSION_SNAPSHOTS);
        }
    }

    private byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Begins a session of a document that is not open. */
    private void open(int place) {
        int document = random.nextInt(DOCUMENTS);
        while (open[document]) {
            document = random.nextInt(DOCUMENTS);
        }
        open[document] = true;
        edited[place] = document;
        snapshotsLeft[place] = between(MIN_SESSION_SNAPSHOTS, MAX_SESSION_SNAPSHOTS);
        changesLeft[document] = between(MIN_CHANGES, MAX_CHANGES);
    }

    private int between(int least, int most) {
        return random.nextInt(least, most + 1);
    }

    /** How far the end is at a random moment, which is more likely in a long stretch than in a short one. */
    private int leftAtAnyMoment(int least, int most) {
        int whole = between(least, most);
        while (random.nextInt(most) >= whole) {
            whole = between(least, most);
        }
        return 1 + random.nextInt(whole);
    }

    /** Appends one change, and the snapshot after it when it is due. A store that cannot trim keeps everything. */
    void change(PeerStore store) throws IOException {
        int place = random.nextInt(edited.length);
        int document = edited[place];
        byte[] change = changes[random.nextInt(MAX_CHANGE_BYTES)];
        store.append(document, change);
        appended(document, change.length);
        if (--changesLeft[document] == 0) {
            snapshot(store, place);
        }
    }

    private void snapshot(PeerStore store, int place) throws IOException {
        int document = edited[place];
        byte[] snapshot = snapshots[random.nextInt(SNAPSHOT_SIZES)];
        if (store instanceof PeerStore.Trimming trimming) {
            trimming.appendSnapshot(document, snapshot, sequences[document]);
        } else {
            store.append(document, snapshot);
        }
        liveBytes -= documentBytes[document];
        documentBytes[document] = 0;
        appended(document, snapshot.length);
        changesLeft[document] = between(MIN_CHANGES, MAX_CHANGES);
        if (snapshotsLeft[place] != NO_END && --snapshotsLeft[place] == 0) {
            open[document] = false;
            open(place);
        }
    }

    private void appended(int document, int bytes) {
        appends++;
        sequences[document]++;
        appendedBytes += bytes;
        documentBytes[document] += bytes;
        liveBytes += bytes;
    }

    /** Number of changes and snapshots so far. */
    long appends() {
        return appends;
    }

    /** Total length of the changes and snapshots so far. */
    long appendedBytes() {
        return appendedBytes;
    }

    /** Total length of those that are not trimmed. */
    long liveBytes() {
        return liveBytes;
    }
}
