package io.caravan.cluster;

import io.caravan.cluster.AppliedIndex.Applied;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs Raft's metadata files when a node starts, before Raft reads them. Ratis (3.3.0) writes a new file next to the
 * old file, and renames the new file even if the write has failed. The file is then empty or truncated. With such a
 * {@code raft-meta}, Raft would not start. With such a {@code raft-meta.conf}, Raft would use the members of the first
 * start.
 *
 * <ul>
 *   <li>{@code raft-meta} contains the term, and the node's vote in it. A node that has lost its vote must not vote
 *       in any term in which it may have voted. It therefore continues in a term that no node has reached, {@link
 *       #ahead}, and an election moves the other nodes to this term.
 *   <li>{@code raft-meta.conf} contains the members of the group, as recorded in the newest committed membership
 *       entry. It is rebuilt from the newest such entry in the Raft log or in this node's copy of the file. If neither
 *       has one, the node does not start. The copy is updated while the node runs.
 * </ul>
 */
final class RaftMetadataRepair {
    /** The minimum number of terms that a node skips when it has lost the record of its own term. */
    static final long LEAP = 1L << 40;

    private static final int TERMS_OF_A_MILLISECOND_BITS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(RaftMetadataRepair.class);
    private static final String TERM = "term";
    private static final String VOTE = "votedFor";
    private static final String MEMBERS = "members";

    private RaftMetadataRepair() {}

    /** Repairs the files of a node that has started before; {@code group} is Raft's directory for the group. */
    static void prepare(Path group, String self) throws IOException {
        Path current = group.resolve("current");
        Path own = group.resolve("sm");
        Applied durable = new AppliedIndex(own).durable();
        prepareTerm(current.resolve("raft-meta"), own.resolve("term-at-start"), current, durable, self);
        prepareNodes(current.resolve("raft-meta.conf"), own, current, durable);
    }

    private static void prepareTerm(Path file, Path kept, Path segments, @Nullable Applied durable, String self)
            throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        byte[] now = Files.readAllBytes(file);
        Files.createDirectories(kept.resolveSibling("."));
        long applied = Math.max(Newest.of(segments).term, durable == null ? 0 : durable.getTerm());
        if (isWhole(now)) {
            // A power failure may have restored an older file, because only votes, not terms, are made durable before
            // they are used. The leader of the older term could truncate entries that this node has acknowledged to a
            // later leader.
            byte[] newest = term(now) >= applied ? now : lines(self, applied);
            StoreDirectories.replace(kept, ByteBuffer.wrap(newest));
            if (newest != now) {
                LOG.warn("{}: its term is older than its log: continues in term {}", self, applied);
                StoreDirectories.replace(file, ByteBuffer.wrap(newest));
            }
            return;
        }
        long last = Math.max(Files.exists(kept) ? term(Files.readAllBytes(kept)) : 0, applied);
        long ahead = ahead(last, System.currentTimeMillis());
        LOG.warn("{}: a failed write has lost the term and the vote: continues in term {}", self, ahead);
        // The node votes for itself, so that it votes for no other node in this term.
        byte[] repaired = lines(self, ahead);
        // This file is written first: if the other write fails, the next start continues from this term.
        StoreDirectories.replace(kept, ByteBuffer.wrap(repaired));
        StoreDirectories.replace(file, ByteBuffer.wrap(repaired));
    }

    /**
     * Returns a term in which this node has not voted. This term is so far ahead of the last known term that elections
     * every 50 ms would take 1,700 years to reach it.
     *
     * <p>Another node may already have skipped from the same or an earlier term, and this node may have voted in the
     * other node's new term. That skip happened earlier, so it reached a lower term: the clock advances skipped terms
     * by 1,024 per millisecond, far faster than any node can vote.
     *
     * @param last the higher of two terms: the term of this node's last start or skip, and the term of its last entry
     */
    static long ahead(long last, long nowMillis) {
        long clock = nowMillis << TERMS_OF_A_MILLISECOND_BITS;
        return Math.max(last + LEAP + clock % LEAP, clock);
    }

    /** Whether a file is intact. A truncated number is still a number, so the last line must end with a line feed. */
    private static boolean isWhole(byte[] file) throws IOException {
        Properties lines = lines(file);
        return file.length > 0 && file[file.length - 1] == '\n' && lines.containsKey(TERM) && lines.containsKey(VOTE);
    }

    private static byte[] lines(String vote, long term) {
        return (VOTE + "=" + vote + "\n" + TERM + "=" + term + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static long term(byte[] file) throws IOException {
        return Long.parseLong(lines(file).getProperty(TERM));
    }

    private static Properties lines(byte[] file) throws IOException {
        Properties lines = new Properties();
        lines.load(new ByteArrayInputStream(file));
        return lines;
    }

    /** Rewrites Raft's file if it does not contain the newest known membership of the group. */
    private static void prepareNodes(Path file, Path own, Path segments, @Nullable Applied durable) throws IOException {
        LogEntryProto now = nodes(file);
        LogEntryProto newest = newer(now, nodes(own.resolve(MEMBERS)));
        if (now == null && Files.exists(file)) {
            Newest logged = Newest.of(segments);
            // A log that ends before the store's files is outdated: the files came from another node, with that node's
            // list of members.
            if (durable == null || logged.index >= durable.getIndex()) {
                newest = newer(newest, logged.nodes);
            }
            if (newest == null) {
                throw new IOException(file + ": a failed write has lost the members of the group, and the Raft log does"
                        + " not contain them; replace this node with a node that has another id and empty directories");
            }
        }
        if (newest != null && !newest.equals(now)) {
            LOG.warn(
                    "a failed write has lost file '{}': recreated it with the members of entry {}",
                    file,
                    newest.getIndex());
            StoreDirectories.replace(file, ByteBuffer.wrap(newest.toByteArray()));
        }
    }

    /**
     * Updates this node's copy of the membership entry to the one that Raft reports, durably. Entries in the log do not
     * change it: they may never be committed, and the group may then commit another one with a lower index.
     */
    static void keepNodes(Path own, LogEntryProto nodes) throws IOException {
        Path kept = own.resolve(MEMBERS);
        if (!nodes.equals(nodes(kept))) {
            StoreDirectories.replace(kept, ByteBuffer.wrap(nodes.toByteArray()));
        }
    }

    /** Returns the membership entry in a file; null if the file is missing, empty, or truncated. */
    private static @Nullable LogEntryProto nodes(Path file) throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        try {
            LogEntryProto entry = LogEntryProto.parseFrom(Files.readAllBytes(file));
            return entry.hasConfigurationEntry() ? entry : null;
        } catch (InvalidProtocolBufferException endsEarly) {
            return null;
        }
    }

    /** Returns the entry with the higher index; the first one if both have the same index. */
    private static @Nullable LogEntryProto newer(@Nullable LogEntryProto first, @Nullable LogEntryProto second) {
        return first == null || second != null && second.getIndex() > first.getIndex() ? second : first;
    }

    /** Collects the newest term, index, and membership from the Raft log. */
    private static final class Newest {
        private long term;
        private long index = -1;
        private @Nullable LogEntryProto nodes;

        static Newest of(Path segments) throws IOException {
            Newest newest = new Newest();
            RaftSegments.readAll(segments, newest::see);
            return newest;
        }

        private void see(LogEntryProto entry) {
            term = entry.getTerm();
            index = entry.getIndex();
            if (entry.hasConfigurationEntry()) {
                nodes = entry;
            }
        }
    }
}
