package io.caravan.bench.life;

import io.caravan.bench.engine.Bars;
import io.caravan.bench.engine.Contest;
import io.caravan.bench.engine.Contestant;
import io.caravan.bench.life.DocumentLife.Activity;
import io.caravan.bench.life.LifeRun.End;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** Caravan as it is by default, and its peers, in turn. */
final class SameLife implements Measure {
    private static final List<Peer> PEERS = List.of(Peer.CHRONICLE, Peer.ROCKSDB, Peer.LMDB);
    private static final String NOTES =
            "%,d documents. Each change appends %d to %d bytes; after %d to %,d changes of a document a snapshot of %d"
                    + " to %d KiB is appended to it, and everything before is trimmed. \"spread\": each change goes to"
                    + " a random document. \"sessions\": it goes to one of %d that are edited; a session ends with a"
                    + " snapshot, after %d to %d of them, and another document takes the place. The seed is %d; all stores begin"
                    + " empty and go through the same life, but none starts another 1,000 changes after %d s, and slow"
                    + " ones do not come far. Every 1,000 changes each store waits until all of them are forced to the"
                    + " disk; Caravan runs at SYNC and forces in between as well. \"disk\" is what Linux wrote to the"
                    + " whole device from before the store was opened until it was closed, zeros of new files"
                    + " included; what RocksDB would still have to compact is not in it, while Caravan checkpoints"
                    + " when it is closed. Where the page cache holds files in large folios, a store that writes"
                    + " through a mapping pays for whole folios. \"log and heap\" and \"checkpoints\" are the bytes that Caravan itself wrote"
                    + " to these files, except through mappings, and without the zeros that files are created with. \"appended\" counts"
                    + " values only, snapshots among them. The longest stall includes the waits for the disk. RocksDB"
                    + " drops a range of keys, LMDB one key after another. Chronicle Queue cannot trim a document, it"
                    + " can only roll: a file goes as a whole, once a newer snapshot of each document in it stands"
                    + " elsewhere, and to bring that about is left to the application. So here it keeps everything,"
                    + " which is the least that it can write.";

    private final LifeRun run;
    private final End end;
    private final Results results = new Results();

    /** Creates the measure of a life that ends when this many bytes have been appended, or this time is up. */
    SameLife(LifeRun run, long bytes, long seconds) {
        this.run = run;
        end = new End(bytes, Long.MAX_VALUE, seconds);
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (Activity activity : Activity.values()) {
            List<Contestant> contestants = new ArrayList<>();
            contestants.add(run.caravan(Contestant.CARAVAN, activity, end, UnaryOperator.identity()));
            PEERS.forEach(peer -> contestants.add(run.peer(peer, activity, end)));
            new Contest(activity.title(), results).run(turn, contestants);
        }
    }

    @Override
    public Table table() {
        String notes = String.format(
                Locale.ROOT,
                NOTES,
                DocumentLife.DOCUMENTS,
                1,
                DocumentLife.MAX_CHANGE_BYTES,
                DocumentLife.MIN_CHANGES,
                DocumentLife.MAX_CHANGES,
                DocumentLife.MIN_SNAPSHOT_BYTES >> 10,
                DocumentLife.MAX_SNAPSHOT_BYTES >> 10,
                DocumentLife.SESSION_DOCUMENTS,
                DocumentLife.MIN_SESSION_SNAPSHOTS,
                DocumentLife.MAX_SESSION_SNAPSHOTS,
                run.seed(),
                end.seconds());
        return new Table("The same life on each store", notes, results);
    }

    /** None where the system does not count what a disk writes. */
    @Override
    public List<Picture> pictures() {
        if (!results.figures().contains(LifeRun.DISK_RATIO)) {
            return List.of();
        }
        String title = "Bytes written to the disk for each byte appended";
        Bars bars = new Bars(title, "written / appended").logarithmic();
        for (Activity activity : Activity.values()) {
            bars.group(activity.title(), results, activity.title(), LifeRun.DISK_RATIO);
        }
        bars.system(Contestant.CARAVAN, Contestant.CARAVAN, LifeRun.DURABILITY);
        PEERS.forEach(peer -> bars.system(peer.title(), peer.title(), LifeRun.DURABILITY));
        return List.of(new Picture(
                "disk",
                title,
                "Lower is better; the scale is logarithmic. Everything that the device wrote, over the values appended,"
                        + " while each store went through the same life and waited for the disk every 1,000 changes."
                        + " Chronicle Queue never trims.",
                bars.chart()));
    }
}
