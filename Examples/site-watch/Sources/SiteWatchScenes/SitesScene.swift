// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole
internal import ConnectorHost
internal import SiteWatchModel

/// Every site with its latest values, and what happened.
struct SitesScene {
    let watch: SiteWatch

    func scene(_ context: SceneContext) -> Scene {
        let sites = watch.sites
        let rows = sites.map { site in
            let outside = site.outside
            let values = site.measures.prefix(4).map { "\($0.name) \($0.text)" }.joined(separator: ", ")
            return Row(
                site.id,
                [
                    StyledText(site.site.name, .strong),
                    outside.isEmpty
                        ? StyledText("well", .good) : StyledText(outside.map(\.name).joined(separator: ", "), .bad),
                    StyledText(values),
                ],
                link: Route(SiteRoute.site(site.site.name))
            )
        }
        let table = TableModel([.init("site"), .init("outside its bounds"), .init("now")], rows)
        let state: ViewState = sites.contains { !$0.measures.isEmpty } ? .loaded : .loading
        var notices = TimelineModel()
        for notice in watch.notices.prefix(20).reversed() {
            notices.add(
                notice.time,
                StyledText("\(notice.site): \(notice.text)", notice.isOutside ? .bad : .good),
                link: Route(SiteRoute.site(notice.site))
            )
        }
        return Scene(
            context.route,
            "Sites",
            [
                context.component("sites", table, sites.isEmpty ? .empty("the file has no sites") : state),
                context.component(
                    "notices",
                    title: "What happened",
                    notices,
                    notices.rows.isEmpty ? .empty("every site is within its bounds") : .loaded
                ),
            ]
        )
    }
}
