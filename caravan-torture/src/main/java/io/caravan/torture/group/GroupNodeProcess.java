package io.caravan.torture.group;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.Entry;
import io.caravan.ListInfo;
import io.caravan.NotLeaderException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreFailedException;
import io.caravan.cluster.GroupConfig;
import io.caravan.cluster.GroupMember;
import io.caravan.cluster.LeadershipListener;
import io.caravan.torture.group.NodeCall.Reply;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one node of a Raft group in a child process. While it leads, it makes the changes that the harness requests over
 * loopback. Each connection has its own thread. The process ends when its standard input ends.
 */
public class GroupNodeProcess implements LeadershipListener {
    /** The exit status of a node that refuses to start with the files in its directory. */
    static final int REJECTED = 3;

    /** The exit status of a node that cannot continue and must be restarted. */
    static final int UNFIT = 4;

    private static final Logger LOG = LoggerFactory.getLogger(GroupNodeProcess.class);
    private static final long POLL_MILLIS = 500;

    private volatile @Nullable DurableListStore leading;
    private volatile @Nullable DurableListStore failed;
    private volatile boolean closing;

    public static void main(String[] arguments) throws IOException {
        System.exit(new GroupNodeProcess().run(GroupPlan.parse(arguments)));
    }

    /** Runs the node until it must exit, and returns the exit status. */
    final int run(GroupConfig config) throws IOException {
        try (GroupMember member = GroupMember.start(config, this);
                ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread acceptor = new Thread(() -> accept(server, member), "accept");
            acceptor.setDaemon(true);
            acceptor.start();
            Thread watch = new Thread(() -> endWhenUnfit(member), "watch");
            watch.setDaemon(true);
            watch.start();
            publishPort(GroupPlan.portFile(config.raftDirectory()), server.getLocalPort());
            while (System.in.read() >= 0) {
                // The harness never sends anything; only the end of the input matters.
            }
            closing = true;
            return 0;
        } catch (StoreDirectoryException rejected) {
            System.out.println(rejected.getMessage());
            return REJECTED;
        } catch (IOException | RuntimeException unfit) {
            LOG.error("cannot start", unfit);
            return UNFIT;
        }
    }

    /**
     * Ends the process, as the server does, if the node no longer takes part in its group, or is the leader and its
     * store has failed.
     */
    private void endWhenUnfit(GroupMember member) {
        DurableListStore broken = null;
        while (!closing) {
            // A store also fails when the node loses leadership. In that case, the node no longer leads at the next
            // check.
            DurableListStore now = failed == leading ? leading : null;
            boolean unfit = !member.takesPart() || now != null && now == broken;
            if (unfit && !closing) {
                LOG.error("cannot go on");
                System.exit(UNFIT);
            }
            broken = now;
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS));
        }
    }

    private static void publishPort(Path file, int port) throws IOException {
        Path temporary = file.resolveSibling("port.tmp");
        Files.writeString(temporary, Integer.toString(port));
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private void accept(ServerSocket server, GroupMember member) {
        try {
            while (true) {
                Socket socket = server.accept();
                Thread thread = new Thread(() -> serve(socket, member), "serve");
                thread.setDaemon(true);
                thread.start();
            }
        } catch (IOException closed) {
            System.out.println("no more calls: " + closed);
        }
    }

    private void serve(Socket socket, GroupMember member) {
        try (socket) {
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            while (true) {
                reply(NodeCall.read(in), member, out);
                out.flush();
            }
        } catch (EOFException done) {
            // The harness has closed the connection.
        } catch (IOException broken) {
            System.out.println("a connection broke: " + broken);
        }
    }

    private void reply(NodeCall call, GroupMember member, DataOutputStream out) throws IOException {
        DurableListStore store = leading;
        if (call.kind() == NodeCall.Kind.STATE) {
            out.writeByte(Reply.DONE.ordinal());
            boolean takesPart = member.takesPart();
            out.writeBoolean(store != null);
            out.writeBoolean(takesPart);
            out.writeLong(takesPart ? member.appliedIndex() : -1);
        } else if (store == null) {
            fail(Reply.REJECTED, "it does not lead", out);
        } else {
            reply(call, store, member, out);
        }
    }

    private void reply(NodeCall call, DurableListStore store, GroupMember member, DataOutputStream out)
            throws IOException {
        try {
            switch (call.kind()) {
                case READ -> read(store, call.list(), out);
                case STRICT_READ -> {
                    confirmLeadership(member);
                    read(store, call.list(), out);
                }
                default -> {
                    long result = change(store, call);
                    out.writeByte(Reply.DONE.ordinal());
                    out.writeLong(result);
                }
            }
        } catch (UnconfirmedException rejected) {
            fail(Reply.REJECTED, String.valueOf(rejected.getMessage()), out);
        } catch (NotLeaderException | OutOfSpaceException rejected) {
            fail(Reply.REJECTED, rejected.toString(), out);
        } catch (CaravanException lost) {
            if (lost instanceof StoreFailedException) {
                failed = store;
            }
            fail(Reply.UNKNOWN, lost.toString(), out);
        }
    }

    private static void fail(Reply reply, String why, DataOutputStream out) throws IOException {
        out.writeByte(reply.ordinal());
        out.writeUTF(why);
    }

    /** Thrown if the node could not confirm that it is still the leader. */
    private static final class UnconfirmedException extends Exception {
        private static final long serialVersionUID = 1L;

        UnconfirmedException(Throwable why) {
            super(why);
        }
    }

    private void confirmLeadership(GroupMember member) throws UnconfirmedException {
        try {
            leads(member).join();
        } catch (CompletionException unconfirmed) {
            throw new UnconfirmedException(unconfirmed);
        }
    }

    /** Returns a future that completes when the node has confirmed that it is still the leader. */
    CompletableFuture<Void> leads(GroupMember member) {
        return member.confirmLeadership();
    }

    private static void read(DurableListStore store, long list, DataOutputStream out) throws IOException {
        List<Entry> entries;
        ListInfo info;
        do {
            entries = store.read(list);
            info = store.info(list);
            // If the results do not match, an append happened between the two calls.
        } while (entries.isEmpty() && info != null && info.count() > 0);
        out.writeByte(Reply.DONE.ordinal());
        out.writeLong(
                entries.isEmpty()
                        ? (info == null ? -1 : info.firstSequence())
                        : entries.get(0).sequence());
        out.writeInt(entries.size());
        for (Entry entry : entries) {
            out.writeLong(entry.sequence());
            out.writeInt(entry.value().length);
            out.write(entry.value());
        }
    }

    /** Makes a change to the store, and returns the result once the store has acknowledged the change. */
    long change(DurableListStore store, NodeCall call) {
        try {
            return submit(store, call).join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof CaravanException why) {
                throw why;
            }
            throw failed;
        }
    }

    static CompletableFuture<Long> submit(DurableListStore store, NodeCall call) {
        return switch (call.kind()) {
            case APPEND -> store.append(call.list(), call.value());
            case TRIM -> store.trimTo(call.list(), call.number());
            case DELETE -> store.delete(call.list());
            case READ, STRICT_READ, STATE -> throw new IllegalArgumentException(call + " changes nothing");
        };
    }

    @Override
    public void leads(DurableListStore store) {
        leading = store;
    }

    @Override
    public void follows() {
        leading = null;
    }
}
