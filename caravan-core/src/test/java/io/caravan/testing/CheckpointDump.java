package io.caravan.testing;

import io.caravan.checkpoint.CheckpointReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The capture LSNs and the regions in a checkpoint file, in the order in which they appear there.
 *
 * @param captures the LSN at which each section was captured
 * @param regions the regions of all lists
 */
public record CheckpointDump(List<Long> captures, List<Long> regions) {
    public static CheckpointDump of(CheckpointReader reader) throws IOException {
        CheckpointDump dump = new CheckpointDump(new ArrayList<>(), new ArrayList<>());
        reader.read(new CheckpointReader.Visitor() {
            @Override
            public void partition(int partition, long captureLsn) {
                dump.captures.add(captureLsn);
            }

            @Override
            public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
                for (int i = 0; i < count; i++) {
                    dump.regions.add(regions.getLong(at + i * Long.BYTES));
                }
            }
        });
        return dump;
    }
}
