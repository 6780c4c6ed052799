package io.caravan.engine;

import io.caravan.checkpoint.CheckpointReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** The sections of a checkpoint file. */
final class CheckpointSections {

    /** One section: its partition and the LSN at which that was captured. */
    record Section(int partition, long captureLsn) {}

    private CheckpointSections() {}

    static List<Section> read(CheckpointReader reader) throws IOException {
        List<Section> sections = new ArrayList<>();
        reader.read(new CheckpointReader.Visitor() {
            @Override
            public void partition(int partition, long captureLsn) {
                sections.add(new Section(partition, captureLsn));
            }

            @Override
            public void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count) {}
        });
        return sections;
    }

    /** Returns the regions of all lists, in the order of the file. */
    static List<Long> regions(CheckpointReader reader) throws IOException {
        List<Long> found = new ArrayList<>();
        reader.read(new CheckpointReader.Visitor() {
            @Override
            public void partition(int partition, long captureLsn) {}

            @Override
            public void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count) {
                for (int i = 0; i < count; i++) {
                    found.add(regions.getLong(at + i * Long.BYTES));
                }
            }
        });
        return found;
    }
}
