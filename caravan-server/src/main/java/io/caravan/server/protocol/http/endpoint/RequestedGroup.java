package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.cluster.Slots;
import io.caravan.server.protocol.http.codec.Request;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.Route;
import org.jspecify.annotations.Nullable;

/** Determines the Raft group of a request. */
final class RequestedGroup {
    private RequestedGroup() {}

    /**
     * Returns the group of the first document that the request names, or the group in which a listing of documents
     * continues. For other requests, returns the group of this node.
     *
     * @throws io.caravan.server.protocol.http.codec.Problem if the name or the cursor is invalid
     */
    static GroupView of(Cluster cluster, Route route, Request request) {
        if (cluster.groups().size() == 1) {
            return cluster.group();
        }
        if (route.aboutDocument()) {
            return of(cluster, StreamName.of(route.rest(request.path())));
        }
        return switch (route.operation()) {
            case DocumentList.OPERATION ->
                cluster.group(DocumentList.Cursor.of(request.query()).slot());
            case StreamBatches.OPERATION, StreamReads.FOLLOW -> of(cluster, JsonBody.firstName(request.body()));
            default -> cluster.group();
        };
    }

    private static GroupView of(Cluster cluster, @Nullable DocumentName name) {
        return name == null ? cluster.group() : cluster.group(Slots.of(name.toBytes()));
    }
}
