package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the leaders of a cluster's Raft groups in the {@code INFO} of one of its nodes. */
final class ClusterLeaders {
    private static final String SLOTS = "cluster_slots_";
    private static final Pattern RESP = Pattern.compile("(?:^|,)resp=([^,]+)");

    private ClusterLeaders() {}

    /**
     * Returns one address per Raft group; none for a single server.
     *
     * @throws ClientException if a group has no leader
     */
    static List<HostPort> of(ServerInfo info) {
        List<HostPort> leaders = new ArrayList<>();
        for (Map.Entry<String, String> field :
                info.sections().getOrDefault("cluster", Map.of()).entrySet()) {
            if (field.getKey().startsWith(SLOTS)) {
                Matcher resp = RESP.matcher(field.getValue());
                if (!resp.find()) {
                    throw ClientException.failed(
                            "no host leads the slots " + field.getKey().substring(SLOTS.length())
                                    + " at the moment: nothing was changed; try again");
                }
                leaders.add(HostPort.parse(resp.group(1)));
            }
        }
        return leaders;
    }
}
