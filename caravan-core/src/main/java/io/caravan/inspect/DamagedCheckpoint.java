package io.caravan.inspect;

import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * The lists that are left in a checkpoint.
 *
 * <p>A list whose first part is lost may seem to begin later than it does. Its entries' checksums, which have their
 * sequences in them, then do not check, so that is a loss and never a wrong value.
 */
final class DamagedCheckpoint {
    private final DamagedSections sections;
    private final Map<Integer, Map<Long, SalvagedList>> found;

    private DamagedCheckpoint(DamagedSections sections, Map<Integer, Map<Long, SalvagedList>> found) {
        this.sections = sections;
        this.found = found;
    }

    /** Reads those lists that are wanted, by their ids. */
    static DamagedCheckpoint read(StoreFile file, LongPredicate wanted) throws IOException {
        Lists lists = new Lists(wanted);
        DamagedSections sections = DamagedSections.read(file, lists);
        lists.complete();
        return new DamagedCheckpoint(sections, lists.found);
    }

    /** Offset of the first byte that is in no section, or -1. */
    long firstDamage() {
        return sections.firstDamage();
    }

    boolean has(int partition) {
        return sections.has(partition);
    }

    boolean isWhole(int partition) {
        return sections.isWhole(partition);
    }

    Map<Long, SalvagedList> lists(int partition) {
        return found.getOrDefault(partition, new HashMap<>());
    }

    long captureLsn(int partition) {
        return sections.captureLsn(partition);
    }

    /** Puts lists together from their pieces. */
    private static final class Lists implements DamagedSections.Visitor {
        private final LongPredicate wanted;
        private final Map<Integer, Map<Long, SalvagedList>> found = new HashMap<>();
        /** The next sequence of each list. */
        private final Map<Long, Long> ends = new HashMap<>();

        private int partition;

        Lists(LongPredicate wanted) {
            this.wanted = wanted;
        }

        @Override
        public void partition(int number, long captureLsn) {
            partition = number;
        }

        @Override
        public void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count) {
            if (!wanted.test(id)) {
                return;
            }
            SalvagedList list = found.computeIfAbsent(partition, any -> new HashMap<>())
                    .computeIfAbsent(id, any -> new SalvagedList(birth, first));
            for (int i = 0; i < count && list.next() < next; i++) {
                list.append(regions.getLong(at + i * Long.BYTES));
            }
            ends.put(id, next);
        }

        @Override
        public void damaged(long offset) {}

        /** Lists of which parts are lost have their sequences all the same. */
        void complete() {
            found.values().forEach(lists -> lists.forEach((id, list) -> list.skipTo(ends.getOrDefault(id, 0L))));
        }
    }
}
