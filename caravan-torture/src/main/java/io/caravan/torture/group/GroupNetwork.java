package io.caravan.torture.group;

import io.caravan.cluster.Node;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Simulates the network between the nodes of a Raft group, in which connections can be cut and slowed. Each node
 * connects to every other node through its own proxy, which handles the two directions separately:
 *
 * <pre>
 *   node a                                        node b
 *   host-b is 127.0.1.1  ->  127.0.1.1:port b  ->  127.0.0.1:port b
 * </pre>
 *
 * <p>All nodes use the same names and ports for each other, as a Raft group must, but each has its own table of
 * addresses ({@code jdk.net.hosts.file}). While a direction is cut, the bytes sent in it wait, like packets that are
 * retransmitted. Needs a system on which all addresses in 127.0.0.0/8 belong to this machine, such as Linux.
 * Thread-safe.
 */
final class GroupNetwork implements AutoCloseable {
    private static final String LOOPBACK = "127.0.0.1";
    private static final int BUFFER_BYTES = 16 * 1024;
    private static final int WAITING_CONNECTIONS = 50;

    /** The direction in which one node sends to another. */
    private record Way(String from, String to) {}

    /** Lets bytes sent in one direction pass immediately, after a delay, or only after the network is healed. */
    private static final class Valve {
        private boolean shut;
        private long delayMillis;

        synchronized void set(boolean nowShut, long nowDelayMillis) {
            shut = nowShut;
            delayMillis = nowDelayMillis;
            notifyAll();
        }

        synchronized void pass() throws InterruptedException {
            long due = System.nanoTime() + delayMillis * 1_000_000;
            while (shut || delayMillis > 0 && due - System.nanoTime() > 0) {
                wait(shut ? 0 : Math.max(1, (due - System.nanoTime()) / 1_000_000));
            }
        }
    }

    private final GroupPlan plan;
    private final Map<Way, Valve> valves = new ConcurrentHashMap<>();
    private final List<ServerSocket> proxies = new ArrayList<>();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

    /** Creates a network without cuts or delays. */
    GroupNetwork(GroupPlan plan) throws IOException {
        this.plan = plan;
        for (Node from : plan.nodes()) {
            StringBuilder table = new StringBuilder(LOOPBACK + " localhost\n");
            for (Node to : plan.nodes()) {
                boolean self = to.equals(from);
                table.append(self ? LOOPBACK : seenFrom(from))
                        .append(' ')
                        .append(to.address())
                        .append('\n');
                if (!self) {
                    valves.put(new Way(from.id(), to.id()), new Valve());
                    listen(from, to);
                }
            }
            Files.writeString(table(from.id()), table);
        }
    }

    /** Returns the address at which a node reaches all other nodes. */
    private String seenFrom(Node node) {
        return "127.0.1." + (1 + plan.nodes().indexOf(node));
    }

    private Path table(String node) {
        return plan.directory().resolve(node + ".nodes");
    }

    /** Returns the JVM flag that makes a node connect to other nodes through this network. */
    String flag(String node) {
        return "-Djdk.net.hosts.file=" + table(node);
    }

    private void listen(Node from, Node to) throws IOException {
        ServerSocket proxy = new ServerSocket();
        proxies.add(proxy);
        proxy.setReuseAddress(true);
        proxy.bind(new InetSocketAddress(InetAddress.getByName(seenFrom(from)), to.port()), WAITING_CONNECTIONS);
        start("proxy", () -> accept(proxy, from, to));
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept(ServerSocket proxy, Node from, Node to) {
        while (!proxy.isClosed()) {
            try {
                connect(proxy.accept(), from, to);
            } catch (IOException down) {
                // The connection is closed because the target node is down or the network is closed.
            }
        }
    }

    @SuppressWarnings("PMD.CloseResource") // the pumps close both
    private void connect(Socket near, Node from, Node to) throws IOException {
        connections.add(near);
        Socket far = new Socket();
        try {
            far.connect(new InetSocketAddress(LOOPBACK, to.port()));
        } catch (IOException down) {
            close(near, far);
            throw down;
        }
        connections.add(far);
        near.setTcpNoDelay(true);
        far.setTcpNoDelay(true);
        start("to " + to.id(), () -> pump(near, far, valve(from.id(), to.id())));
        start("from " + to.id(), () -> pump(far, near, valve(to.id(), from.id())));
    }

    private void pump(Socket source, Socket target, Valve valve) {
        byte[] buffer = new byte[BUFFER_BYTES];
        try {
            InputStream in = source.getInputStream();
            OutputStream out = target.getOutputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                valve.pass();
                out.write(buffer, 0, count);
            }
        } catch (IOException broken) {
            // One of the two sockets is closed; closing the other one notifies its owner.
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        } finally {
            close(source, target);
        }
    }

    private void close(Socket... sockets) {
        for (Socket socket : sockets) {
            connections.remove(socket);
            try {
                socket.close();
            } catch (IOException gone) {
                // The socket is no longer used.
            }
        }
    }

    private Valve valve(String from, String to) {
        Valve valve = valves.get(new Way(from, to));
        if (valve == null) {
            throw new IllegalArgumentException("no way from node " + from + " to " + to);
        }
        return valve;
    }

    /** Withholds all bytes that the node sends from now on. */
    void mute(String node) {
        others(node).forEach(other -> valve(node, other).set(true, 0));
    }

    /** Withholds all bytes that are sent to the node from now on. */
    void deafen(String node) {
        others(node).forEach(other -> valve(other, node).set(true, 0));
    }

    private List<String> others(String node) {
        return plan.nodes().stream()
                .map(Node::id)
                .filter(other -> !other.equals(node))
                .toList();
    }

    /** Delays all bytes sent from now on by {@code millis}. */
    void slow(long millis) {
        valves.values().forEach(valve -> valve.set(false, millis));
    }

    /**
     * Removes all cuts and delays.
     *
     * @param broken whether to close all connections, which loses the withheld bytes; otherwise these bytes arrive
     */
    void heal(boolean broken) {
        if (broken) {
            close(connections.toArray(Socket[]::new));
        }
        valves.values().forEach(valve -> valve.set(false, 0));
    }

    @Override
    public void close() throws IOException {
        for (ServerSocket proxy : proxies) {
            proxy.close();
        }
        heal(true);
    }
}
