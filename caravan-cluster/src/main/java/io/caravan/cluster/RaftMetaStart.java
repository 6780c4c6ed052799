package io.caravan.cluster;

import io.caravan.cluster.AppliedMark.Applied;
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
 * What is done to Raft's small files when a host starts, before Raft reads them. Ratis (3.3.0) writes each beside the old
 * one, and has it take that one's place even if the disk has refused the write: it is empty then, or ends early. Raft would
 * not start any more without the one, and without the other it would take the hosts of the first start for the group's.
 *
 * <ul>
 *   <li>{@code raft-meta} has the term, and whom the host has voted for in it. A host that has forgotten that must vote in
 *       no term in which it may have voted. So it goes on in a term that nobody has reached, {@link #ahead}, and the others
 *       follow it there by an election.
 *   <li>{@code raft-meta.conf} has the hosts of the group, as the newest entry says that tells of them. It is made anew from
 *       that entry. If the Raft log does not have it any more, the host does not start.
 * </ul>
 */
final class RaftMetaStart {
    /** How many terms a host goes ahead that has lost its own, at least. */
    static final long LEAP = 1L << 40;

    private static final int TERMS_OF_A_MILLISECOND_BITS = 10;
    private static final Logger LOG = LoggerFactory.getLogger(RaftMetaStart.class);
    private static final String TERM = "term";
    private static final String VOTE = "votedFor";

    private RaftMetaStart() {}

    /**
     * Prepares the files of a host that has started before.
     *
     * @param group Raft's folder for the group
     * @param self the host's id
     * @throws IOException when a file cannot be read or written, or the hosts are lost
     */
    static void prepare(Path group, String self) throws IOException {
        Path current = group.resolve("current");
        Path own = group.resolve("sm");
        Applied durable = new AppliedMark(own).durable();
        prepareTerm(current.resolve("raft-meta"), own.resolve("term-at-start"), current, durable, self);
        prepareHosts(current.resolve("raft-meta.conf"), current, durable);
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
            // A power cut may have brought an older file back: a vote is durable before it counts, a term is not.
            // In the older term, its leader could cut off entries that this host has acknowledged to a later one.
            byte[] newest = term(now) >= applied ? now : lines(self, applied);
            Folders.replace(kept, ByteBuffer.wrap(newest));
            if (newest != now) {
                LOG.warn("{}: its term is older than its log: goes on in term {}", self, applied);
                Folders.replace(file, ByteBuffer.wrap(newest));
            }
            return;
        }
        long last = Math.max(Files.exists(kept) ? term(Files.readAllBytes(kept)) : 0, applied);
        long ahead = ahead(last, System.currentTimeMillis());
        LOG.warn("{}: a write that failed has lost the term and the vote: goes on in term {}", self, ahead);
        // A vote for itself: in this term it votes for nobody else.
        byte[] anew = lines(self, ahead);
        // First, so that whatever becomes of the other, the next time begins there.
        Folders.replace(kept, ByteBuffer.wrap(anew));
        Folders.replace(file, ByteBuffer.wrap(anew));
    }

    /**
     * A term in which this host has not voted. It lies so far ahead of the last one that the host knows of that it would
     * take 1,700 years to get there by an election every 50 ms. If another host has gone ahead since from where this one
     * stands, or from before, and this one has voted where it went, it was sooner, and so it was not so far: there are a
     * thousand terms for each millisecond of the clock, and nobody votes as often.
     *
     * @param last the term in which this host was started last, or went ahead itself, or that of the last entry it has
     */
    static long ahead(long last, long nowMillis) {
        long clock = nowMillis << TERMS_OF_A_MILLISECOND_BITS;
        return Math.max(last + LEAP + clock % LEAP, clock);
    }

    /** A number that ends early is one too, so the last line must have its end. */
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

    private static void prepareHosts(Path file, Path segments, @Nullable Applied durable) throws IOException {
        if (!Files.exists(file) || tellsHosts(Files.readAllBytes(file))) {
            return;
        }
        Newest newest = Newest.of(segments);
        LogEntryProto hosts = newest.hosts;
        // A log that ends before the store's files is an old one: they came from another host, with its list of hosts.
        if (hosts == null || durable != null && newest.index < durable.getIndex()) {
            throw new IOException(
                    file + ": a write that failed has lost the hosts of the group, and the Raft log does not"
                            + " tell of them; replace this host by one with another id and empty folders");
        }
        LOG.warn("a write that failed has lost {}: made anew from entry {} of the Raft log", file, hosts.getIndex());
        Folders.replace(file, ByteBuffer.wrap(hosts.toByteArray()));
    }

    private static boolean tellsHosts(byte[] file) {
        try {
            return LogEntryProto.parseFrom(file).hasConfigurationEntry();
        } catch (InvalidProtocolBufferException endsEarly) {
            return false;
        }
    }

    /** What the Raft log tells last. */
    private static final class Newest {
        private long term;
        private long index = -1;
        private @Nullable LogEntryProto hosts;

        static Newest of(Path segments) throws IOException {
            Newest newest = new Newest();
            RaftSegments.readAll(segments, newest::see);
            return newest;
        }

        private void see(LogEntryProto entry) {
            term = entry.getTerm();
            index = entry.getIndex();
            if (entry.hasConfigurationEntry()) {
                hosts = entry;
            }
        }
    }
}
