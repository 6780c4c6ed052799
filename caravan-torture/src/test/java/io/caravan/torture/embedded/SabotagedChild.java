package io.caravan.torture.embedded;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import java.io.IOException;

/** A child process with the real store, changed to acknowledge writes before they reach the operating system. */
final class SabotagedChild {

    private SabotagedChild() {}

    public static void main(String[] arguments) throws IOException {
        TortureChild.run(arguments, SabotagedChild::open);
    }

    private static ListStore open(StoreConfig config) {
        return DurableListStore.open(StoreConfig.builder(config.directory())
                .durability(Durability.MEMORY)
                .maxValueBytes(config.maxValueBytes())
                .logBufferBytes(config.logBufferBytes())
                .logSegmentBytes(config.logSegmentBytes())
                .heapSegmentBytes(config.heapSegmentBytes())
                .checkpointFloorBytes(config.checkpointFloorBytes())
                .checkpointFraction(config.checkpointFraction())
                .build());
    }
}
