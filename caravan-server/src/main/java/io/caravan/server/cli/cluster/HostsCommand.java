package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cluster.ClusterFile;
import io.caravan.server.cluster.ClusterHost;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What the commands that change a cluster's hosts share. */
abstract class HostsCommand extends ClientCommand {
    private static final String HOST = "cluster_host_";

    HostsCommand(Console console) {
        super(console);
    }

    /** A host as the file describes it that it is started with. */
    static ClusterHost described(Path file, String host) throws IOException {
        try {
            return ClusterFile.read(file).host(host);
        } catch (IllegalArgumentException missing) {
            throw new IOException(file + ": " + missing.getMessage(), missing);
        }
    }

    static String at(ClusterHost host) {
        return "host " + host.id() + " (peer " + host.peer() + ", RESP " + host.resp() + ", HTTP " + host.http() + ")";
    }

    static Stream<String> words(ClusterHost host) {
        return Stream.of(
                host.id(),
                host.peer().toString(),
                host.resp().toString(),
                host.http().toString());
    }

    /**
     * Says what will be done, does it, and says which hosts the cluster has then.
     *
     * @param more how many more hosts the cluster will have
     */
    final void change(Output output, String what, int more, Stream<String> words) throws IOException {
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            ClusterCommand.requireCluster(info);
            if (!json()) {
                int hosts = hosts(info) + more;
                output.line(what + "; " + hosts + " hosts survive the loss of " + Math.max(0, hosts - 1) / 2);
                output.flush();
            }
            Map<String, ?> answer = connection.askAtLeisure(
                    Stream.concat(Stream.of("CARAVAN.HOSTS"), words).toArray(String[]::new));
            List<String> hosts = List.of(String.valueOf(answer.get("hosts")).split(","));
            print(output, "the cluster has the hosts " + String.join(", ", hosts), fields -> {
                fields.writeArrayFieldStart("hosts");
                for (String host : hosts) {
                    fields.writeString(host);
                }
                fields.writeEndArray();
            });
        }
    }

    private static int hosts(ServerInfo info) {
        return (int) info.sections().getOrDefault("cluster", Map.of()).keySet().stream()
                .filter(field -> field.startsWith(HOST))
                .count();
    }
}
