package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where the hosts are that lead the groups of a cluster, by what one of its hosts says in {@code INFO}. */
final class ClusterLeaders {
    private static final String SLOTS = "cluster_slots_";
    private static final Pattern RESP = Pattern.compile("(?:^|,)resp=([^,]+)");

    private ClusterLeaders() {}

    /**
     * One address for each group; none of a server that is alone.
     *
     * @throws ClientException when a group has none that leads
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
