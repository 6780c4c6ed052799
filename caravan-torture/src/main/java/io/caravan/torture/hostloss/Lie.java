package io.caravan.torture.hostloss;

import io.caravan.bench.s3.Bucket;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;

/** Damages the archive's bucket when the host is lost, to prove that the drill detects the damage. */
enum Lie {
    /** Restores an earlier state of all manifests. */
    MANIFESTS_ROLLED_BACK,
    /** Deletes the newest snapshots. */
    SNAPSHOTS_LOST,
    /** Deletes some manifests. */
    MANIFESTS_LOST;

    private static final String MANIFESTS = "manifests/";
    private static final String SNAPSHOTS = "snapshots/";
    private static final int EVERY = 5;

    /** Damages a bucket in one of these ways. */
    interface Liar {
        /** Saves, while the server is archiving, the state of the bucket that will be needed for the damage. */
        void remember() throws IOException;

        /** Damages the bucket when the host is lost. */
        void lie() throws IOException;
    }

    /**
     * Returns an object that damages this bucket.
     *
     * @param prefix prefix of the archive's keys, including the slash at the end
     */
    Liar in(Bucket bucket, String prefix) {
        return switch (this) {
            case MANIFESTS_ROLLED_BACK -> new RollsBack(bucket, prefix + MANIFESTS);
            case SNAPSHOTS_LOST ->
                new Deletes(bucket, prefix + SNAPSHOTS, key -> key.substring(0, key.lastIndexOf('/')));
            case MANIFESTS_LOST -> new Deletes(bucket, prefix + MANIFESTS, key -> key);
        };
    }

    private record RollsBack(Bucket bucket, String prefix, Map<String, byte[]> remembered) implements Liar {
        RollsBack(Bucket bucket, String prefix) {
            this(bucket, prefix, new HashMap<>());
        }

        @Override
        public void remember() throws IOException {
            for (String key : bucket.keys(prefix)) {
                byte[] content = bucket.get(key);
                if (content != null) {
                    remembered.put(key, content);
                }
            }
        }

        @Override
        public void lie() throws IOException {
            for (Map.Entry<String, byte[]> object : remembered.entrySet()) {
                bucket.put(object.getKey(), object.getValue());
            }
        }
    }

    /**
     * Deletes the newest object of every fifth document.
     *
     * @param document returns the document of a key
     */
    private record Deletes(Bucket bucket, String prefix, UnaryOperator<String> document) implements Liar {
        @Override
        public void remember() {}

        @Override
        public void lie() throws IOException {
            Map<String, String> newest = new TreeMap<>();
            bucket.keys(prefix)
                    .forEach(key ->
                            newest.merge(document.apply(key), key, BinaryOperator.maxBy(Comparator.naturalOrder())));
            List<String> keys = List.copyOf(newest.values());
            for (int i = 0; i < keys.size(); i += EVERY) {
                bucket.delete(keys.get(i));
            }
        }
    }

    /** Returns the command-line name of this kind of damage. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
