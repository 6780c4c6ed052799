package io.caravan.server.cli.cluster;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;

/** Shows a cluster as one of its hosts sees it. */
@Command(
        name = "status",
        description = {
            "Shows the cluster as one of its hosts sees it: who leads and since when, and for each host how many of the"
                    + " group's entries it has. The leader knows most: ask it. Changes nothing."
        },
        footer = {
            "  caravan cluster status --server 127.0.0.1:6381",
            "  caravan cluster status --server db2.example:6380 --json"
        })
final class ClusterStatusCommand extends ClientCommand {
    private static final String HOST = "cluster_host_";

    ClusterStatusCommand(Console console) {
        super(console);
    }

    @Override
    protected void run(Output output) throws IOException {
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            ClusterCommand.requireCluster(info);
            Map<String, String> figures = info.sections().getOrDefault("cluster", Map.of());
            if (json()) {
                output.object(fields -> {
                    for (Map.Entry<String, String> field : figures.entrySet()) {
                        if (field.getKey().startsWith("cluster_")) {
                            fields.writeStringField(field.getKey(), field.getValue());
                        }
                    }
                });
                return;
            }
            String leader = info.text("cluster_leader");
            output.line("host " + info.text("cluster_host") + " of cluster " + info.text("cluster_group") + ", "
                    + info.text("cluster_role") + ("1".equals(info.text("cluster_drained")) ? ", drained" : "") + "; "
                    + (leader.isEmpty() ? "NO HOST LEADS" : "host " + leader + " leads") + " since "
                    + info.text("cluster_since_seconds") + " s, term " + info.text("cluster_term"));
            String change = info.text("cluster_change");
            if (!change.isEmpty()) {
                output.line(change);
            }
            output.line(String.format(
                    Locale.ROOT, "%-8s %-9s %-22s %-22s %12s %8s", "host", "role", "RESP", "HTTP", "entries", "heard"));
            for (Map.Entry<String, String> field : figures.entrySet()) {
                if (field.getKey().startsWith(HOST)) {
                    host(output, field.getKey().substring(HOST.length()), field.getValue());
                }
            }
        }
    }

    private static void host(Output output, String id, String line) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        Arrays.stream(line.split(",")).map(field -> field.split("=", 2)).forEach(pair -> fields.put(pair[0], pair[1]));
        String heard = fields.get("heard_ms_ago");
        String files = fields.get("files_bytes");
        output.line(String.format(
                Locale.ROOT,
                "%-8s %-9s %-22s %-22s %12s %8s%s",
                id,
                fields.get("role"),
                fields.get("resp"),
                fields.get("http"),
                fields.getOrDefault("committed_entries", "?"),
                heard == null ? "" : heard + " ms",
                files == null
                        ? ""
                        : "  gets files, has " + files + " of " + fields.get("files_total_bytes") + " bytes"));
    }
}
