package io.caravan.engine;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.Region;
import java.nio.ByteBuffer;
import java.util.function.LongConsumer;

/**
 * Passes the places in the heap to which a checkpoint refers to an action, encoded as regions. Adjacent entries of a
 * list, as most are, are joined into one place.
 */
record HeapPlaces(LongConsumer action) implements CheckpointReader.Visitor {
    private static final long NONE = -1;

    @Override
    public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
        long place = NONE;
        for (int i = 0; i < count; i++) {
            long region = regions.getLong(at + i * Long.BYTES);
            if (Region.isInLog(region)) {
                break;
            }
            if (place != NONE && PendingFrees.isBehind(place, region)) {
                place = PendingFrees.joined(place, region);
            } else {
                pass(place);
                place = region;
            }
        }
        pass(place);
    }

    private void pass(long place) {
        if (place != NONE) {
            action.accept(place);
        }
    }
}
